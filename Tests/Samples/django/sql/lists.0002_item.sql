BEGIN;
--
-- Create model Item
--
CREATE TABLE "lists_item" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "title" varchar(200) NOT NULL, "list_id" bigint NOT NULL REFERENCES "lists_list" ("id") DEFERRABLE INITIALLY DEFERRED);
CREATE INDEX "lists_item_list_id_ac0cd2f9" ON "lists_item" ("list_id");
COMMIT;
