PRAGMA foreign_keys = OFF;
BEGIN;
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
COMMIT;
