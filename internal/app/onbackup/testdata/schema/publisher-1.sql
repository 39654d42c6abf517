CREATE TABLE migrations_publisher (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE live_publishers (
	n         INTEGER PRIMARY KEY AUTOINCREMENT,
	id        TEXT    NOT NULL UNIQUE,
	name      TEXT    NOT NULL,
	show      TEXT    NOT NULL,
	hash      BLOB    NOT NULL, -- SHA-256 of the secret
	auto      INTEGER NOT NULL, -- takes the air without the studio
	from_at   INTEGER NOT NULL, -- 0: no limit
	until_at  INTEGER NOT NULL, -- 0: no limit
	slots     TEXT    NOT NULL, -- JSON list of times of the week
	grace     INTEGER NOT NULL, -- minutes
	revoked   INTEGER NOT NULL,
	created   INTEGER NOT NULL,
	last_live INTEGER NOT NULL  -- 0: never yet
) STRICT;
INSERT OR REPLACE INTO migrations_publisher VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_publisher VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO live_publishers VALUES (1, '"أثير 1"', '"أثير 1"', '"أثير 1"', X'01FF', 1, 1, 1, '"أثير 1"', 1, 1, 1, 1);
INSERT OR REPLACE INTO live_publishers VALUES (2, '"أثير 2"', '"أثير 2"', '"أثير 2"', X'02FF', 2, 2, 2, '"أثير 2"', 2, 2, 2, 2);
