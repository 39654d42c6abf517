CREATE TABLE migrations_lists (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE lists_list (
    id       INTEGER PRIMARY KEY AUTOINCREMENT, -- none is given twice: a deed names it after it is gone
    settings TEXT    NOT NULL, -- JSON
    items    BLOB    NOT NULL, -- paths relative to the media folder, in order, each followed by a zero byte
    version  INTEGER NOT NULL, -- counts changes
    changed  INTEGER NOT NULL, -- Unix ms
    who      TEXT    NOT NULL
);
CREATE TABLE lists_file (
    path     BLOB    PRIMARY KEY,
    size     INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE lists_remote (
    list    INTEGER PRIMARY KEY REFERENCES lists_list (id) ON DELETE CASCADE,
    fetched INTEGER NOT NULL, -- Unix ms, of the last that succeeded; 0: none has
    tried   INTEGER NOT NULL, -- Unix ms
    address TEXT    NOT NULL, -- that it was fetched from
    state   TEXT    NOT NULL, -- JSON: what went wrong, and what the next request says of it
    entries TEXT    NOT NULL  -- JSON
);
CREATE TABLE lists_move (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    at       INTEGER NOT NULL, -- Unix ms
    deed     INTEGER NOT NULL, -- the latest as it was moved
    old_path BLOB    NOT NULL,
    new_path BLOB    NOT NULL
);
CREATE INDEX lists_move_deed ON lists_move (deed);
CREATE TABLE lists_deed (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    at           INTEGER NOT NULL, -- Unix ms
    who          TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    list         INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    undoes       INTEGER NOT NULL, -- id of the deed that it takes back; 0: none
    undone       INTEGER NOT NULL, -- id of the deed that took it back; 0: none
    tracks       INTEGER NOT NULL, -- of the list afterwards
    before       TEXT    NOT NULL, -- settings; empty: they stayed, or there was no list
    after        TEXT    NOT NULL,
    before_items BLOB,             -- deflated; NULL: they stayed, or there was no list
    after_items  BLOB
);
CREATE INDEX lists_deed_list ON lists_deed (list, id);
INSERT OR REPLACE INTO migrations_lists VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_lists VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO lists_list VALUES (1, '"أثير 1"', X'01FF', 1, 1, '"أثير 1"');
INSERT OR REPLACE INTO lists_list VALUES (2, '"أثير 2"', X'02FF', 2, 2, '"أثير 2"');
INSERT OR REPLACE INTO lists_file VALUES (X'01FF', 1, 1);
INSERT OR REPLACE INTO lists_file VALUES (X'02FF', 2, 2);
INSERT OR REPLACE INTO lists_remote VALUES (1, 1, 1, '"أثير 1"', '"أثير 1"', '"أثير 1"');
INSERT OR REPLACE INTO lists_remote VALUES (2, 2, 2, '"أثير 2"', '"أثير 2"', '"أثير 2"');
INSERT OR REPLACE INTO lists_move VALUES (1, 1, 1, X'01FF', X'01FF');
INSERT OR REPLACE INTO lists_move VALUES (2, 2, 2, X'02FF', X'02FF');
INSERT OR REPLACE INTO lists_deed VALUES (1, 1, '"أثير 1"', '"أثير 1"', 1, '"أثير 1"', 1, 1, 1, '"أثير 1"', '"أثير 1"', X'01FF', X'01FF');
INSERT OR REPLACE INTO lists_deed VALUES (2, 2, '"أثير 2"', '"أثير 2"', 2, '"أثير 2"', 2, 2, 2, '"أثير 2"', '"أثير 2"', X'02FF', X'02FF');
