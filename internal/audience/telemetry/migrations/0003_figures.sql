-- +goose Up
-- What a report names a recording by, as it was when it aired: a report does not change when
-- a file is gone.
ALTER TABLE telemetry_airings ADD COLUMN album TEXT NOT NULL DEFAULT '';
ALTER TABLE telemetry_airings ADD COLUMN isrc TEXT NOT NULL DEFAULT '';
ALTER TABLE telemetry_airings ADD COLUMN label TEXT NOT NULL DEFAULT '';
ALTER TABLE telemetry_airings ADD COLUMN composer TEXT NOT NULL DEFAULT '';

-- Seconds of all listeners of one kind of device, or in one country, by hour and by day:
-- sums alone, and names of fixed sets.
CREATE TABLE telemetry_crowd (
	by      TEXT    NOT NULL CHECK (by IN ('hour', 'day')),
	at      INTEGER NOT NULL, -- epoch milliseconds of its begin
	kind    TEXT    NOT NULL CHECK (kind IN ('device', 'country')),
	name    TEXT    NOT NULL,
	seconds INTEGER NOT NULL,
	PRIMARY KEY (by, at, kind, name)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE telemetry_crowd;
ALTER TABLE telemetry_airings DROP COLUMN composer;
ALTER TABLE telemetry_airings DROP COLUMN label;
ALTER TABLE telemetry_airings DROP COLUMN isrc;
ALTER TABLE telemetry_airings DROP COLUMN album;
