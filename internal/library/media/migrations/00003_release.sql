-- +goose Up
-- What a report of what aired names a recording by. Files that are registered already are
-- read for it with the next scan: their stamp is that of the reader before.
ALTER TABLE media_track ADD COLUMN isrc TEXT NOT NULL DEFAULT '';
ALTER TABLE media_track ADD COLUMN label TEXT NOT NULL DEFAULT '';
ALTER TABLE media_track ADD COLUMN composer TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE media_track DROP COLUMN composer;
ALTER TABLE media_track DROP COLUMN label;
ALTER TABLE media_track DROP COLUMN isrc;
