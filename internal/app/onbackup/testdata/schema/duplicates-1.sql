CREATE TABLE migrations_duplicates (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE duplicates_print (
    path     BLOB    PRIMARY KEY, -- relative to the media folder
    size     INTEGER NOT NULL,    -- of the file the print is of
    mtime_ns INTEGER NOT NULL,
    artist   TEXT    NOT NULL,
    title    TEXT    NOT NULL,
    print    BLOB    NOT NULL     -- items of 32 bits, low byte first; empty: it has none
);
INSERT OR REPLACE INTO migrations_duplicates VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_duplicates VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO duplicates_print VALUES (X'01FF', 1, 1, '"أثير 1"', '"أثير 1"', X'01FF');
INSERT OR REPLACE INTO duplicates_print VALUES (X'02FF', 2, 2, '"أثير 2"', '"أثير 2"', X'02FF');
