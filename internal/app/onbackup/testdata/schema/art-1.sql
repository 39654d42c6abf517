CREATE TABLE migrations_art (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE art_file (
    path     BLOB    PRIMARY KEY, -- relative to the media folder; bytes: file names need not be UTF-8
    size     INTEGER NOT NULL,    -- of the file when it was looked at
    mtime_ns INTEGER NOT NULL,
    beside   INTEGER NOT NULL,    -- version of the file of words beside it; 0: there was none
    cover    TEXT    NOT NULL     -- id of its picture; empty: none
) WITHOUT ROWID;
CREATE INDEX art_file_cover ON art_file (cover) WHERE cover <> '';
CREATE TABLE art_lyrics (
    path   BLOB PRIMARY KEY,
    lyrics TEXT NOT NULL,
    synced TEXT NOT NULL -- JSON, a list of {atMs, text}; empty: without times
);
INSERT OR REPLACE INTO migrations_art VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_art VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO art_file VALUES (X'01FF', 1, 1, 1, '"أثير 1"');
INSERT OR REPLACE INTO art_file VALUES (X'02FF', 2, 2, 2, '"أثير 2"');
INSERT OR REPLACE INTO art_lyrics VALUES (X'01FF', '"أثير 1"', '"أثير 1"');
INSERT OR REPLACE INTO art_lyrics VALUES (X'02FF', '"أثير 2"', '"أثير 2"');
