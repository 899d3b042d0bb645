-- Django 5.2
CREATE TABLE "django_migrations" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "app" varchar(255) NOT NULL, "name" varchar(255) NOT NULL, "applied" datetime NOT NULL);
CREATE TABLE "lists_list" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "title" varchar(200) NOT NULL);
CREATE TABLE "lists_item" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "title" varchar(200) NOT NULL, "list_id" bigint NOT NULL REFERENCES "lists_list" ("id") DEFERRABLE INITIALLY DEFERRED);
CREATE INDEX "lists_item_list_id_ac0cd2f9" ON "lists_item" ("list_id");
ALTER TABLE "lists_list" ADD COLUMN "color" varchar(20) NULL;
INSERT INTO lists_list (title) VALUES ('Inbox');
INSERT INTO django_migrations (app, name, applied) VALUES ('lists', '0001_initial', '2024-06-30 08:00:00');
INSERT INTO django_migrations (app, name, applied) VALUES ('lists', '0002_item', '2024-06-30 08:00:00');
INSERT INTO django_migrations (app, name, applied) VALUES ('lists', '0003_list_color', '2024-06-30 08:00:00');
