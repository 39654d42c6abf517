-- +goose Up
-- The airings of one track.
CREATE INDEX telemetry_airings_path ON telemetry_airings (path, started);

-- +goose Down
DROP INDEX telemetry_airings_path;
