ALTER TABLE lists ADD COLUMN color TEXT;--> statement-breakpoint
UPDATE lists SET color = 'gray' WHERE color IS NULL;
