CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL, 
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

-- Running upgrade  -> 1975ea83b712

CREATE TABLE lists (
  id INTEGER PRIMARY KEY,
  title TEXT NOT NULL
);
INSERT INTO lists (id, title) VALUES (1, 'Inbox');

INSERT INTO alembic_version (version_num) VALUES ('1975ea83b712') RETURNING version_num;

-- Running upgrade 1975ea83b712 -> ae1027a6acf0

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

UPDATE alembic_version SET version_num='ae1027a6acf0' WHERE alembic_version.version_num = '1975ea83b712';

-- Running upgrade ae1027a6acf0 -> 27c6a30d7c24

ALTER TABLE lists ADD COLUMN color TEXT;
UPDATE lists SET color = 'gray' WHERE color IS NULL;

UPDATE alembic_version SET version_num='27c6a30d7c24' WHERE alembic_version.version_num = 'ae1027a6acf0';

