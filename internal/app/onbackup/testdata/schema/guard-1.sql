CREATE TABLE migrations_guard (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE guard_alarms (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	kind    TEXT    NOT NULL,
	cause   TEXT    NOT NULL,
	began   INTEGER NOT NULL, -- epoch milliseconds, as all times here
	raised  INTEGER NOT NULL,
	heard   INTEGER NOT NULL, -- 0: not yet
	cleared INTEGER NOT NULL, -- 0: not yet
	steps   TEXT    NOT NULL  -- JSON array
) STRICT;
INSERT OR REPLACE INTO migrations_guard VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_guard VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO guard_alarms VALUES (1, '"أثير 1"', '"أثير 1"', 1, 1, 1, 1, '"أثير 1"');
INSERT OR REPLACE INTO guard_alarms VALUES (2, '"أثير 2"', '"أثير 2"', 2, 2, 2, 2, '"أثير 2"');
