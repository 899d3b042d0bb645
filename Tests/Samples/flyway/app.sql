-- Flyway 10
CREATE TABLE "flyway_schema_history" (
    "installed_rank" INT NOT NULL PRIMARY KEY,
    "version" VARCHAR(50),
    "description" VARCHAR(200) NOT NULL,
    "type" VARCHAR(20) NOT NULL,
    "script" VARCHAR(1000) NOT NULL,
    "checksum" INT,
    "installed_by" VARCHAR(100) NOT NULL,
    "installed_on" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    "execution_time" INT NOT NULL,
    "success" BOOLEAN NOT NULL
);
CREATE INDEX "flyway_schema_history_s_idx" ON "flyway_schema_history" ("success");
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
INSERT INTO flyway_schema_history VALUES (1, '1', 'create lists', 'SQL', 'V1__create_lists.sql', 0, '', '2024-06-30 08:00:00.000', 3, 1);
INSERT INTO flyway_schema_history VALUES (2, '2', 'create items', 'SQL', 'V2__create_items.sql', 0, '', '2024-06-30 08:00:00.000', 3, 1);
INSERT INTO flyway_schema_history VALUES (3, '3', 'add list colors', 'SQL', 'V3__add_list_colors.sql', 0, '', '2024-06-30 08:00:00.000', 3, 1);
DROP VIEW IF EXISTS list_titles;
CREATE VIEW list_titles AS SELECT title FROM lists;
INSERT INTO flyway_schema_history VALUES (4, NULL, 'list titles', 'SQL', 'R__list_titles.sql', 0, '', '2024-06-30 08:00:00.000', 3, 1);
