-- +goose Up
-- One row is one emoji that was ever used.
CREATE TABLE reactions (
	emoji TEXT    PRIMARY KEY,
	count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- taken says whether the reactions data file was looked for.
CREATE TABLE reactions_state (
	id    INTEGER PRIMARY KEY CHECK (id = 1),
	taken INTEGER NOT NULL
) STRICT;

INSERT INTO reactions_state VALUES (1, 0);

-- One row is the newest vote of a client on the vibe. The client is kept as a
-- keyed hash only.
CREATE TABLE vibe_votes (
	voter BLOB    PRIMARY KEY,
	vibe  TEXT    NOT NULL,
	at    INTEGER NOT NULL -- epoch milliseconds
) STRICT, WITHOUT ROWID;

CREATE INDEX vibe_votes_at ON vibe_votes (at);

-- What a write that carried a client's own id was answered, as a hash of the id
-- for as long as the same id may come again.
CREATE TABLE feedback_answers (
	id     BLOB    PRIMARY KEY,
	at     INTEGER NOT NULL, -- epoch milliseconds
	answer TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX feedback_answers_at ON feedback_answers (at);
