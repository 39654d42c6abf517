CREATE TABLE migrations_jobs (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE jobs (
	id      TEXT    PRIMARY KEY,
	kind    TEXT    NOT NULL,
	state   TEXT    NOT NULL,
	started INTEGER NOT NULL, -- epoch milliseconds
	record  BLOB    NOT NULL  -- JSON of the whole job
) STRICT;
CREATE INDEX jobs_started ON jobs (started);
INSERT OR REPLACE INTO migrations_jobs VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_jobs VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO jobs VALUES ('"أثير 1"', '"أثير 1"', '"أثير 1"', 1, X'01FF');
INSERT OR REPLACE INTO jobs VALUES ('"أثير 2"', '"أثير 2"', '"أثير 2"', 2, X'02FF');
