CREATE TABLE migrations_feedback (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE votes (
	path  BLOB    NOT NULL,
	voter BLOB    NOT NULL,
	delta INTEGER NOT NULL CHECK (delta IN (-1, 1)),
	at    INTEGER NOT NULL, -- epoch milliseconds
	PRIMARY KEY (path, voter)
) STRICT, WITHOUT ROWID;
CREATE INDEX votes_at ON votes (at);
CREATE TABLE votes_state (
	id    INTEGER PRIMARY KEY CHECK (id = 1),
	salt  BLOB NOT NULL,
	heard TEXT NOT NULL
) STRICT;
CREATE TABLE reactions (
	emoji TEXT    PRIMARY KEY,
	count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE reactions_state (
	id    INTEGER PRIMARY KEY CHECK (id = 1),
	taken INTEGER NOT NULL
) STRICT;
CREATE TABLE vibe_votes (
	voter BLOB    PRIMARY KEY,
	vibe  TEXT    NOT NULL,
	at    INTEGER NOT NULL -- epoch milliseconds
) STRICT, WITHOUT ROWID;
CREATE INDEX vibe_votes_at ON vibe_votes (at);
CREATE TABLE feedback_answers (
	id     BLOB    PRIMARY KEY,
	at     INTEGER NOT NULL, -- epoch milliseconds
	answer TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX feedback_answers_at ON feedback_answers (at);
INSERT OR REPLACE INTO migrations_feedback VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_feedback VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_feedback VALUES (3, 2, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO votes VALUES (X'01FF', X'01FF', -1, 1);
INSERT OR REPLACE INTO votes VALUES (X'02FF', X'02FF', 1, 2);
INSERT OR REPLACE INTO votes_state VALUES (1, X'01FF', '"أثير 1"');
INSERT OR REPLACE INTO reactions VALUES ('"أثير 1"', 1);
INSERT OR REPLACE INTO reactions VALUES ('"أثير 2"', 2);
INSERT OR REPLACE INTO reactions_state VALUES (1, 1);
INSERT OR REPLACE INTO vibe_votes VALUES (X'01FF', '"أثير 1"', 1);
INSERT OR REPLACE INTO vibe_votes VALUES (X'02FF', '"أثير 2"', 2);
INSERT OR REPLACE INTO feedback_answers VALUES (X'01FF', 1, '"أثير 1"');
INSERT OR REPLACE INTO feedback_answers VALUES (X'02FF', 2, '"أثير 2"');
