-- +goose Up
-- One row is one vote: of an address for or against a path in the queue. A path
-- may hold any bytes. The address is kept as a keyed hash only.
CREATE TABLE votes (
	path  BLOB    NOT NULL,
	voter BLOB    NOT NULL,
	delta INTEGER NOT NULL CHECK (delta IN (-1, 1)),
	at    INTEGER NOT NULL, -- epoch milliseconds
	PRIMARY KEY (path, voter)
) STRICT, WITHOUT ROWID;

CREATE INDEX votes_at ON votes (at);

-- heard is the newest airing whose votes were cleared.
CREATE TABLE votes_state (
	id    INTEGER PRIMARY KEY CHECK (id = 1),
	salt  BLOB NOT NULL,
	heard TEXT NOT NULL
) STRICT;

INSERT INTO votes_state VALUES (1, randomblob(32), '');
