CREATE TABLE migrations_podcast (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE podcast_shows (
	slug    TEXT    PRIMARY KEY,
	version INTEGER NOT NULL, -- grows with every change by an operator
	own     TEXT    NOT NULL, -- JSON: what the operator says
	guid    TEXT    NOT NULL, -- podcast:guid
	cover   TEXT    NOT NULL, -- stamp of the row of podcast_covers; '': none
	created INTEGER NOT NULL, -- these four: epoch milliseconds
	changed INTEGER NOT NULL,
	said    INTEGER NOT NULL, -- when the operator last said something: retention waits a while
	removed INTEGER NOT NULL, -- 0: it is there
	numbers INTEGER NOT NULL  -- the last number that an episode was given
) STRICT;
CREATE TABLE podcast_covers (
	show TEXT PRIMARY KEY REFERENCES podcast_shows (slug) ON DELETE CASCADE,
	jpeg BLOB NOT NULL -- a square, made anew from what was sent
) STRICT;
CREATE TABLE podcast_episodes (
	show        TEXT    NOT NULL REFERENCES podcast_shows (slug) ON DELETE CASCADE,
	id          TEXT    NOT NULL, -- of show and source
	number      INTEGER NOT NULL,
	state       TEXT    NOT NULL CHECK (state IN ('making', 'failed', 'held', 'published', 'hidden', 'removed')),
	was         TEXT    NOT NULL, -- of one that is removed: its state before
	lost        TEXT    NOT NULL, -- of one whose file has gone: its state before
	problem     TEXT    NOT NULL,
	kind        TEXT    NOT NULL, -- these two: its source
	key         TEXT    NOT NULL,
	born        INTEGER NOT NULL, -- these six: epoch milliseconds, 0 for never
	began       INTEGER NOT NULL,
	opens       INTEGER NOT NULL, -- listeners may hear it from then on
	published   INTEGER NOT NULL,
	changed     INTEGER NOT NULL,
	removed     INTEGER NOT NULL,
	duration_ms INTEGER NOT NULL,
	bytes       INTEGER NOT NULL,
	file        TEXT    NOT NULL, -- base name in the folder of its show; '': none
	pinned      INTEGER NOT NULL,
	downloads   INTEGER NOT NULL,
	tries       INTEGER NOT NULL, -- that failed in a row
	again       INTEGER NOT NULL, -- when the next is, epoch milliseconds; 0: not by itself
	words       TEXT    NOT NULL, -- JSON: titles, chapters, text
	PRIMARY KEY (show, id)
) STRICT;
CREATE TABLE podcast_gone (
	show TEXT    NOT NULL REFERENCES podcast_shows (slug) ON DELETE CASCADE,
	id   TEXT    NOT NULL,
	at   INTEGER NOT NULL, -- epoch milliseconds
	PRIMARY KEY (show, id)
) STRICT, WITHOUT ROWID;
INSERT OR REPLACE INTO migrations_podcast VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_podcast VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO podcast_shows VALUES ('"أثير 1"', 1, '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, 1, 1, 1, 1);
INSERT OR REPLACE INTO podcast_shows VALUES ('"أثير 2"', 2, '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, 2, 2, 2, 2);
INSERT OR REPLACE INTO podcast_covers VALUES ('"أثير 1"', X'01FF');
INSERT OR REPLACE INTO podcast_covers VALUES ('"أثير 2"', X'02FF');
INSERT OR REPLACE INTO podcast_episodes VALUES ('"أثير 1"', '"أثير 1"', 1, 'making', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, 1, 1, 1, 1, 1, 1, 1, '"أثير 1"', 1, 1, 1, 1, '"أثير 1"');
INSERT OR REPLACE INTO podcast_episodes VALUES ('"أثير 2"', '"أثير 2"', 2, 'failed', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, 2, 2, 2, 2, 2, 2, 2, '"أثير 2"', 2, 2, 2, 2, '"أثير 2"');
INSERT OR REPLACE INTO podcast_gone VALUES ('"أثير 1"', '"أثير 1"', 1);
INSERT OR REPLACE INTO podcast_gone VALUES ('"أثير 2"', '"أثير 2"', 2);
