-- +goose Up
ALTER TABLE lists ADD COLUMN color TEXT;
UPDATE lists SET color = 'gray' WHERE color IS NULL;

-- +goose Down
ALTER TABLE lists DROP COLUMN color;
