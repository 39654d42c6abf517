-- +goose Up
-- What of the file airs, where an operator has said so; 0: from its beginning, to its end.
ALTER TABLE aircopy ADD COLUMN from_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE aircopy ADD COLUMN to_us INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE aircopy DROP COLUMN from_us;
ALTER TABLE aircopy DROP COLUMN to_us;
