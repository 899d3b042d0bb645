-- Prisma 6
CREATE TABLE "_prisma_migrations" (
    "id"                    TEXT PRIMARY KEY NOT NULL,
    "checksum"              TEXT NOT NULL,
    "finished_at"           DATETIME,
    "migration_name"        TEXT NOT NULL,
    "logs"                  TEXT,
    "rolled_back_at"        DATETIME,
    "started_at"            DATETIME NOT NULL DEFAULT current_timestamp,
    "applied_steps_count"   INTEGER UNSIGNED NOT NULL DEFAULT 0
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
INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name) VALUES ('0', '', 1719734400000, '20240105090000_create_lists');
INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name) VALUES ('1', '', 1719734400000, '20240212113000_create_items');
INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name) VALUES ('2', '', 1719734400000, '20240630080000_add_list_colors');
