CREATE TABLE migrations_aircopy (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE aircopy (
    rel         BLOB    PRIMARY KEY, -- path relative to the media folder
    size        INTEGER NOT NULL,    -- of the file that was looked at
    mtime_ns    INTEGER NOT NULL,
    category    TEXT    NOT NULL,
    profile     TEXT    NOT NULL,    -- it was held against
    state       TEXT    NOT NULL,    -- as_is, copy, refused, lost
    reason      TEXT    NOT NULL,    -- of a refusal, for people
    copy        BLOB    NOT NULL,    -- path relative to the folder of copies; empty: there is none
    copy_size   INTEGER NOT NULL,
    duration_us INTEGER NOT NULL,    -- of what airs
    cue_in_us   INTEGER NOT NULL,
    cue_out_us  INTEGER NOT NULL,
    trimmed_us  INTEGER NOT NULL,    -- silence cut off both ends
    lufs        REAL    NOT NULL,
    dbtp        REAL    NOT NULL,
    gain_db     REAL    NOT NULL,
    method      TEXT    NOT NULL,
    at_ms       INTEGER NOT NULL
, short_lu REAL NOT NULL DEFAULT 0, from_us INTEGER NOT NULL DEFAULT 0, to_us INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
INSERT OR REPLACE INTO migrations_aircopy VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_aircopy VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_aircopy VALUES (3, 2, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_aircopy VALUES (4, 3, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_aircopy VALUES (5, 4, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO aircopy VALUES (X'01FF', 1, 1, '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', X'01FF', 1, 1, 1, 1, 1, 1.5, 1.5, 1.5, '"أثير 1"', 1, 1.5, 1, 1);
INSERT OR REPLACE INTO aircopy VALUES (X'02FF', 2, 2, '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', X'02FF', 2, 2, 2, 2, 2, 2.5, 2.5, 2.5, '"أثير 2"', 2, 2.5, 2, 2);
