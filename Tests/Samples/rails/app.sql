-- Rails 8
CREATE TABLE IF NOT EXISTS "schema_migrations" ("version" varchar NOT NULL PRIMARY KEY);
CREATE TABLE IF NOT EXISTS "ar_internal_metadata" ("key" varchar NOT NULL PRIMARY KEY, "value" varchar, "created_at" datetime(6) NOT NULL, "updated_at" datetime(6) NOT NULL);
CREATE TABLE IF NOT EXISTS "lists" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "title" varchar NOT NULL, "color" varchar);
CREATE TABLE IF NOT EXISTS "items" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "list_id" integer NOT NULL, "title" varchar NOT NULL, CONSTRAINT "fk_rails_items_lists"
FOREIGN KEY ("list_id")
  REFERENCES "lists" ("id")
);
CREATE INDEX "index_items_on_list_id" ON "items" ("list_id");
INSERT INTO ar_internal_metadata VALUES ('environment', 'production', '2024-01-05', '2024-01-05');
INSERT INTO lists (title) VALUES ('Inbox');
INSERT INTO schema_migrations (version) VALUES ('20240105090000'), ('20240212113000'), ('20240630080000');
