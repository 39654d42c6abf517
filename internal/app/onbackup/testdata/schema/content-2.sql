CREATE TABLE migrations_content (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE content_item (
    id          INTEGER PRIMARY KEY,
    source      TEXT    NOT NULL,
    source_id   BLOB    NOT NULL,
    url         TEXT    NOT NULL,
    page        TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    artist      TEXT    NOT NULL,
    album       TEXT    NOT NULL,
    genre       TEXT    NOT NULL,
    license     TEXT    NOT NULL,
    licensor    TEXT    NOT NULL,
    category    TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    state       TEXT    NOT NULL, -- failed, refused, placing, placed, archived
    reason      TEXT    NOT NULL, -- code; of failed and refused
    english     TEXT    NOT NULL,
    arabic      TEXT    NOT NULL,
    tries       INTEGER NOT NULL,
    settled     INTEGER NOT NULL, -- the source knows what became of it
    sha256      TEXT    NOT NULL, -- of the file as fetched
    size        INTEGER NOT NULL, -- of the mastered file, bytes
    duration_ms INTEGER NOT NULL,
    lufs        REAL    NOT NULL,
    dbtp        REAL    NOT NULL,
    gain_db     REAL    NOT NULL,
    method      TEXT    NOT NULL,
    path        BLOB    NOT NULL, -- empty until it has one
    run         INTEGER NOT NULL,
    made_ms     INTEGER NOT NULL,
    changed_ms  INTEGER NOT NULL,
    retry_ms    INTEGER NOT NULL  -- not to be tried before; 0: never again
, late INTEGER NOT NULL DEFAULT 0);
CREATE INDEX content_item_of ON content_item (source, source_id, id);
CREATE INDEX content_item_at ON content_item (path);
CREATE INDEX content_item_in ON content_item (state, category);
CREATE TABLE content_archive (
    id       INTEGER PRIMARY KEY,
    path     BLOB    NOT NULL, -- in the media folder
    kept_as  BLOB    NOT NULL, -- in the archive
    category TEXT    NOT NULL,
    reason   TEXT    NOT NULL,
    state    TEXT    NOT NULL, -- retiring, kept, archived, restoring, restored, purging, purged, dropped, lost
    detail   TEXT    NOT NULL,
    run      INTEGER NOT NULL,
    size     INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    at_ms    INTEGER NOT NULL, -- of the decision
    done_ms  INTEGER NOT NULL  -- of the last change of state
);
CREATE INDEX content_archive_state ON content_archive (state, category);
CREATE INDEX content_archive_path ON content_archive (path);
CREATE TABLE content_run (
    id         INTEGER PRIMARY KEY,
    started_ms INTEGER NOT NULL,
    ended_ms   INTEGER NOT NULL, -- 0: under way, or cut off by a kill
    result     TEXT    NOT NULL  -- JSON
);
INSERT OR REPLACE INTO migrations_content VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_content VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_content VALUES (3, 2, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO content_item VALUES (1, '"أثير 1"', X'01FF', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, 1, '"أثير 1"', 1, 1, 1.5, 1.5, 1.5, '"أثير 1"', X'01FF', 1, 1, 1, 1, 1);
INSERT OR REPLACE INTO content_item VALUES (2, '"أثير 2"', X'02FF', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, 2, '"أثير 2"', 2, 2, 2.5, 2.5, 2.5, '"أثير 2"', X'02FF', 2, 2, 2, 2, 2);
INSERT OR REPLACE INTO content_archive VALUES (1, X'01FF', X'01FF', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, 1, 1, 1, 1);
INSERT OR REPLACE INTO content_archive VALUES (2, X'02FF', X'02FF', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, 2, 2, 2, 2);
INSERT OR REPLACE INTO content_run VALUES (1, 1, 1, '"أثير 1"');
INSERT OR REPLACE INTO content_run VALUES (2, 2, 2, '"أثير 2"');
