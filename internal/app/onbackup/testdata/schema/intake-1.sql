CREATE TABLE migrations_intake (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE intake_arrival (
    id      TEXT    PRIMARY KEY,
    at_ms   INTEGER NOT NULL,
    state   TEXT    NOT NULL, -- as in arrival, for those who look at the table
    arrival TEXT    NOT NULL
) WITHOUT ROWID;
INSERT OR REPLACE INTO migrations_intake VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_intake VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO intake_arrival VALUES ('"أثير 1"', 1, '"أثير 1"', '"أثير 1"');
INSERT OR REPLACE INTO intake_arrival VALUES ('"أثير 2"', 2, '"أثير 2"', '"أثير 2"');
