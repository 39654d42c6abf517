CREATE TABLE migrations_onair (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE onair_state (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    doc  BLOB NOT NULL
) STRICT;
CREATE TABLE onair_rotation (
    slot TEXT PRIMARY KEY CHECK (slot IN ('committed', 'pending')),
    doc  BLOB NOT NULL
) STRICT;
CREATE TABLE plays (
    id       INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL, -- epoch milliseconds
    engine   TEXT    NOT NULL, -- boot id of the playout engine
    seq      INTEGER NOT NULL, -- its count of markers
    path     TEXT    NOT NULL, -- relative to the media root
    artist   TEXT    NOT NULL,
    title    TEXT    NOT NULL,
    category TEXT    NOT NULL,
    round    INTEGER NOT NULL, -- of the track's turns: see package rotation
    UNIQUE (engine, seq)
) STRICT;
CREATE INDEX plays_at ON plays (at);
INSERT OR REPLACE INTO migrations_onair VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_onair VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO onair_state VALUES (1, X'01FF');
INSERT OR REPLACE INTO onair_rotation VALUES ('committed', X'01FF');
INSERT OR REPLACE INTO onair_rotation VALUES ('pending', X'02FF');
INSERT OR REPLACE INTO plays VALUES (1, 1, '"أثير 1"', 1, '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', 1);
INSERT OR REPLACE INTO plays VALUES (2, 2, '"أثير 2"', 2, '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', 2);
