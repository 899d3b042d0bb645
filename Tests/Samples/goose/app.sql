-- goose 3
CREATE TABLE goose_db_version (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  version_id INTEGER NOT NULL,
  is_applied INTEGER NOT NULL,
  tstamp TIMESTAMP DEFAULT (datetime('now'))
);
CREATE TABLE lists (
  id INTEGER PRIMARY KEY,
  title TEXT NOT NULL
);
INSERT INTO lists (id, title) VALUES (1, 'Inbox');
CREATE TABLE items (
  id INTEGER PRIMARY KEY,
  list_id INTEGER NOT NULL REFERENCES lists (id),
  title TEXT NOT NULL,
  changes INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX items_by_list ON items (list_id);
CREATE TRIGGER items_changed AFTER UPDATE OF title ON items BEGIN
  UPDATE items SET changes = changes + 1 WHERE id = new.id;
END;
ALTER TABLE lists ADD COLUMN color TEXT;
UPDATE lists SET color = 'gray' WHERE color IS NULL;
INSERT INTO items (list_id, title) VALUES (1, 'Buy milk');
INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (1, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (2, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (3, 1);
