-- Atlas 0.3x
CREATE TABLE `atlas_schema_revisions` (
  `version` text NOT NULL, `description` text NOT NULL, `type` integer NOT NULL DEFAULT 2,
  `applied` integer NOT NULL DEFAULT 0, `total` integer NOT NULL DEFAULT 0,
  `executed_at` datetime NOT NULL, `execution_time` integer NOT NULL, `error` text NULL,
  `error_stmt` text NULL, `hash` text NOT NULL, `partial_hashes` json NULL,
  `operator_version` text NOT NULL, PRIMARY KEY (`version`)
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
INSERT INTO atlas_schema_revisions VALUES ('20240105090000', 'create_lists', 2, 2, 2, '2024-06-30', 1, NULL, NULL, '', NULL, 'Atlas CLI');
INSERT INTO atlas_schema_revisions VALUES ('20240212113000', 'create_items', 2, 2, 2, '2024-06-30', 1, NULL, NULL, '', NULL, 'Atlas CLI');
INSERT INTO atlas_schema_revisions VALUES ('20240630080000', 'add_list_colors', 2, 2, 2, '2024-06-30', 1, NULL, NULL, '', NULL, 'Atlas CLI');
