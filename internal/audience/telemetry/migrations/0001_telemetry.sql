-- +goose Up
-- One row is one minute, hour or day in which listeners were counted. Sums are
-- over the samples (n), so that rows can be added up; what was not counted has
-- no row.
CREATE TABLE telemetry_history (
	by        TEXT    NOT NULL CHECK (by IN ('minute', 'hour', 'day')),
	at        INTEGER NOT NULL, -- epoch milliseconds of its begin
	n         INTEGER NOT NULL,
	counted   INTEGER NOT NULL, -- by the mission's rule: the relay's, else the streaming server's
	total     INTEGER NOT NULL,
	hls       INTEGER NOT NULL,
	stream    INTEGER NOT NULL,
	icecast   INTEGER NOT NULL,
	fewest    INTEGER NOT NULL, -- of total
	most      INTEGER NOT NULL,
	bits      REAL    NOT NULL, -- per second
	most_bits REAL    NOT NULL,
	came      INTEGER NOT NULL,
	went      INTEGER NOT NULL,
	PRIMARY KEY (by, at)
) STRICT, WITHOUT ROWID;

-- One row is one airing. What was heard while nobody counted has NULL for who
-- listened.
CREATE TABLE telemetry_airings (
	id       TEXT    PRIMARY KEY,
	started  INTEGER NOT NULL, -- epoch milliseconds
	ended    INTEGER NOT NULL, -- 0 while on air
	path     BLOB    NOT NULL,
	title    TEXT    NOT NULL,
	artist   TEXT    NOT NULL,
	category TEXT    NOT NULL,
	type     TEXT    NOT NULL,
	kind     TEXT    NOT NULL,
	n        INTEGER NOT NULL, -- samples
	total    INTEGER NOT NULL, -- their sum
	at_start INTEGER,
	at_end   INTEGER,
	came     INTEGER NOT NULL,
	went     INTEGER NOT NULL
) STRICT;

CREATE INDEX telemetry_airings_started ON telemetry_airings (started);

-- marks is what the milestones remember, as JSON.
CREATE TABLE telemetry_state (
	id    INTEGER PRIMARY KEY CHECK (id = 1),
	marks TEXT NOT NULL
) STRICT;

INSERT INTO telemetry_state VALUES (1, '{}');
