CREATE TABLE migrations_mastering (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE mastering_record (
    output       BLOB    PRIMARY KEY, -- absolute path of the mastered file
    source       BLOB    NOT NULL,    -- absolute path
    size         INTEGER NOT NULL,    -- of the source
    mtime_ns     INTEGER NOT NULL,    -- of the source
    stamp        TEXT    NOT NULL,    -- of how it was made: profile, bit rate, tags, our version
    output_size  INTEGER NOT NULL,
    output_mtime INTEGER NOT NULL,    -- ns
    sha256       TEXT    NOT NULL,    -- of the source
    record       TEXT    NOT NULL,    -- the rest, as JSON
    made_ms      INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX mastering_by_source ON mastering_record (source);
INSERT OR REPLACE INTO migrations_mastering VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_mastering VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO mastering_record VALUES (X'01FF', X'01FF', 1, 1, '"أثير 1"', 1, 1, '"أثير 1"', '"أثير 1"', 1);
INSERT OR REPLACE INTO mastering_record VALUES (X'02FF', X'02FF', 2, 2, '"أثير 2"', 2, 2, '"أثير 2"', '"أثير 2"', 2);
