-- sqlx 0.8
CREATE TABLE IF NOT EXISTS _sqlx_migrations (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    success BOOLEAN NOT NULL,
    checksum BLOB NOT NULL,
    execution_time BIGINT NOT NULL
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
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
  VALUES (20240105090000, 'create lists', TRUE, x'00', 12);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
  VALUES (20240212113000, 'create items', TRUE, x'00', 12);
INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
  VALUES (20240630080000, 'add list colors', TRUE, x'00', 12);
