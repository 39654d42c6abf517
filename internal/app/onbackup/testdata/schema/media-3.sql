CREATE TABLE migrations_media (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE media_track (
    path        BLOB    PRIMARY KEY,
    category    TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    artist      TEXT    NOT NULL,
    album       TEXT    NOT NULL,
    genre       TEXT    NOT NULL,
    license     TEXT    NOT NULL,
    duration_us INTEGER NOT NULL,
    size        INTEGER NOT NULL,
    mtime_ns    INTEGER NOT NULL,
    stamp       INTEGER NOT NULL, -- of what else its row was made from: reader version, credits
    added_ms    INTEGER NOT NULL
, isrc TEXT NOT NULL DEFAULT '', label TEXT NOT NULL DEFAULT '', composer TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
CREATE TABLE media_quarantine (
    path     BLOB    PRIMARY KEY,
    reason   TEXT    NOT NULL,
    size     INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    stamp    INTEGER NOT NULL, -- 0: look again at every scan
    since_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE media_state (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    root       BLOB    NOT NULL,
    generation INTEGER NOT NULL,
    scanned_ms INTEGER NOT NULL
);
INSERT OR REPLACE INTO migrations_media VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_media VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_media VALUES (3, 2, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_media VALUES (4, 3, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO media_track VALUES (X'01FF', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, 1, 1, 1, 1, '"أثير 1"', '"أثير 1"', '"أثير 1"');
INSERT OR REPLACE INTO media_track VALUES (X'02FF', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, 2, 2, 2, 2, '"أثير 2"', '"أثير 2"', '"أثير 2"');
INSERT OR REPLACE INTO media_quarantine VALUES (X'01FF', '"أثير 1"', 1, 1, 1, 1);
INSERT OR REPLACE INTO media_quarantine VALUES (X'02FF', '"أثير 2"', 2, 2, 2, 2);
INSERT OR REPLACE INTO media_state VALUES (1, X'01FF', 1, 1);
