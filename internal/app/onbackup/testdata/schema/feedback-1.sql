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
INSERT OR REPLACE INTO migrations_feedback VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_feedback VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO votes VALUES (X'01FF', X'01FF', -1, 1);
INSERT OR REPLACE INTO votes VALUES (X'02FF', X'02FF', 1, 2);
INSERT OR REPLACE INTO votes_state VALUES (1, X'01FF', '"أثير 1"');
