CREATE TABLE migrations_catalog (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE catalog_view (
    name  TEXT    PRIMARY KEY,
    place INTEGER NOT NULL,
    query TEXT    NOT NULL -- JSON
) WITHOUT ROWID;
INSERT OR REPLACE INTO migrations_catalog VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_catalog VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO catalog_view VALUES ('"أثير 1"', 1, '"أثير 1"');
INSERT OR REPLACE INTO catalog_view VALUES ('"أثير 2"', 2, '"أثير 2"');
