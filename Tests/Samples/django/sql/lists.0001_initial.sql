BEGIN;
--
-- Create model List
--
CREATE TABLE "lists_list" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "title" varchar(200) NOT NULL);
COMMIT;
