CREATE TABLE migrations_carts (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE cart_wall (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	version INTEGER NOT NULL, -- grows with every change
	pages   TEXT    NOT NULL  -- JSON list of pages with their carts
) STRICT;
INSERT OR REPLACE INTO migrations_carts VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_carts VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO cart_wall VALUES (1, 1, '"أثير 1"');
