CREATE TABLE migrations_overlay (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE overlay_note (
    path     BLOB    PRIMARY KEY, -- relative to the media folder; bytes: file names need not be UTF-8
    note     TEXT    NOT NULL,    -- JSON
    size     INTEGER NOT NULL,    -- of the file when it was last seen: a file that is moved keeps its note
    mtime_ns INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE overlay_deed (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    at     INTEGER NOT NULL, -- Unix ms
    who    TEXT    NOT NULL,
    kind   TEXT    NOT NULL,
    fields TEXT    NOT NULL, -- JSON list
    undoes INTEGER NOT NULL, -- id of the deed that it takes back; 0: none
    undone INTEGER NOT NULL  -- id of the deed that took it back; 0: none
);
CREATE TABLE overlay_change (
    deed   INTEGER NOT NULL REFERENCES overlay_deed (id) ON DELETE CASCADE,
    path   BLOB    NOT NULL,
    before TEXT    NOT NULL, -- JSON; empty: there was no note
    after  TEXT    NOT NULL,
    PRIMARY KEY (deed, path)
) WITHOUT ROWID;
CREATE INDEX overlay_change_path ON overlay_change (path, deed);
INSERT OR REPLACE INTO migrations_overlay VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_overlay VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO overlay_note VALUES (X'01FF', '"أثير 1"', 1, 1);
INSERT OR REPLACE INTO overlay_note VALUES (X'02FF', '"أثير 2"', 2, 2);
INSERT OR REPLACE INTO overlay_deed VALUES (1, 1, '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, 1);
INSERT OR REPLACE INTO overlay_deed VALUES (2, 2, '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, 2);
INSERT OR REPLACE INTO overlay_change VALUES (1, X'01FF', '"أثير 1"', '"أثير 1"');
INSERT OR REPLACE INTO overlay_change VALUES (2, X'02FF', '"أثير 2"', '"أثير 2"');
