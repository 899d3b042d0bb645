BEGIN;
--
-- Add field color to list
--
ALTER TABLE "lists_list" ADD COLUMN "color" varchar(20) NULL;
--
-- Raw Python operation
--
-- THIS OPERATION CANNOT BE WRITTEN AS SQL
COMMIT;
