-- What each connection of the app runs. Sync and tools open the file without it.
PRAGMA foreign_keys = ON;

CREATE TEMP TRIGGER reminders_updated AFTER UPDATE OF listID, title, status ON reminders
BEGIN
  UPDATE reminders SET updatedAt = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE id = NEW.id;
END;

-- There is always a list to write into.
CREATE TEMP TRIGGER lists_default AFTER DELETE ON lists
WHEN NOT EXISTS (SELECT 1 FROM lists)
BEGIN
  INSERT INTO lists (title) VALUES ('Reminders');
END;

-- The app completes what has been completing for a while.
CREATE TEMP TRIGGER reminders_completing AFTER UPDATE OF status ON reminders
WHEN NEW.status = 2 OR OLD.status = 2 AND NEW.status = 0
BEGIN
  SELECT completingChanged();
END;
