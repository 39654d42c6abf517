CREATE TABLE migrations_telemetry (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
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
, album TEXT NOT NULL DEFAULT '', isrc TEXT NOT NULL DEFAULT '', label TEXT NOT NULL DEFAULT '', composer TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX telemetry_airings_started ON telemetry_airings (started);
CREATE TABLE telemetry_state (
	id    INTEGER PRIMARY KEY CHECK (id = 1),
	marks TEXT NOT NULL
) STRICT;
CREATE INDEX telemetry_airings_path ON telemetry_airings (path, started);
CREATE TABLE telemetry_crowd (
	by      TEXT    NOT NULL CHECK (by IN ('hour', 'day')),
	at      INTEGER NOT NULL, -- epoch milliseconds of its begin
	kind    TEXT    NOT NULL CHECK (kind IN ('device', 'country')),
	name    TEXT    NOT NULL,
	seconds INTEGER NOT NULL,
	PRIMARY KEY (by, at, kind, name)
) STRICT, WITHOUT ROWID;
INSERT OR REPLACE INTO migrations_telemetry VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_telemetry VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_telemetry VALUES (3, 2, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_telemetry VALUES (4, 3, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO telemetry_history VALUES ('hour', 2, 2, 2, 2, 2, 2, 2, 2, 2, 2.5, 2.5, 2, 2);
INSERT OR REPLACE INTO telemetry_history VALUES ('minute', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1.5, 1.5, 1, 1);
INSERT OR REPLACE INTO telemetry_airings VALUES ('"أثير 1"', 1, 1, X'01FF', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, 1, 1, 1, 1, 1, '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"');
INSERT OR REPLACE INTO telemetry_airings VALUES ('"أثير 2"', 2, 2, X'02FF', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, 2, 2, 2, 2, 2, '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"');
INSERT OR REPLACE INTO telemetry_state VALUES (1, '"أثير 1"');
INSERT OR REPLACE INTO telemetry_crowd VALUES ('day', 2, 'country', '"أثير 2"', 2);
INSERT OR REPLACE INTO telemetry_crowd VALUES ('hour', 1, 'device', '"أثير 1"', 1);
