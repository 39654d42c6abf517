-- +goose Up
-- short_lu is how much quieter than its profile a copy is, by the limiter's depth.
ALTER TABLE aircopy ADD COLUMN short_lu REAL NOT NULL DEFAULT 0;
-- Refusals on a forecast of the loudness: to be decided again.
UPDATE aircopy SET state = 'lost' WHERE state = 'refused'
    AND (reason LIKE 'its peaks are too far above its loudness%' OR reason LIKE 'it is still at %');

-- +goose Down
ALTER TABLE aircopy DROP COLUMN short_lu;
