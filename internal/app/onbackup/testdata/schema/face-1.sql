CREATE TABLE migrations_face (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE face (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	version INTEGER NOT NULL, -- grows with every change
	face    TEXT    NOT NULL, -- JSON: texts, colours, links, CSS
	logo    BLOB,             -- PNG, made anew from what was sent; NULL: none
	icon    BLOB              -- PNG, 512 × 512; NULL: made from the logo
) STRICT;
INSERT OR REPLACE INTO migrations_face VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_face VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO face VALUES (1, 1, '"أثير 1"', X'01FF', X'01FF');
