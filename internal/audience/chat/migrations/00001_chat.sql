-- +goose Up
-- One row is what one person said: a message in a room, or a comment, which is
-- what is said in the room "comments". device and address are keyed hashes;
-- they go when the row goes.
CREATE TABLE chat_lines (
	id       INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice
	room     TEXT    NOT NULL,
	at       INTEGER NOT NULL, -- epoch milliseconds
	user     TEXT    NOT NULL,
	kind     TEXT    NOT NULL CHECK (kind IN ('text', 'voice', 'image')),
	text     TEXT    NOT NULL,
	media    TEXT    REFERENCES chat_media (name),
	duration INTEGER NOT NULL DEFAULT 0, -- milliseconds
	width    INTEGER NOT NULL DEFAULT 0,
	height   INTEGER NOT NULL DEFAULT 0,
	staff    INTEGER NOT NULL DEFAULT 0,
	state    INTEGER NOT NULL DEFAULT 0, -- 0 shown, 1 shown to its author alone, 2 deleted
	device   BLOB,
	address  BLOB
) STRICT;

CREATE INDEX chat_lines_room ON chat_lines (room, id);
CREATE INDEX chat_lines_at ON chat_lines (at);
CREATE INDEX chat_lines_device ON chat_lines (device, at) WHERE device IS NOT NULL;
CREATE INDEX chat_lines_address ON chat_lines (address, at) WHERE address IS NOT NULL;
CREATE INDEX chat_lines_media ON chat_lines (media) WHERE media IS NOT NULL;
CREATE INDEX chat_lines_attached ON chat_lines (id) WHERE media IS NOT NULL;

-- A file is kept as long as its row is, and its row as long as a line shows it.
CREATE TABLE chat_media (
	name  TEXT    NOT NULL PRIMARY KEY, -- SHA-256 and extension
	bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE chat_reactions (
	line  INTEGER NOT NULL REFERENCES chat_lines (id) ON DELETE CASCADE,
	emoji TEXT    NOT NULL,
	who   BLOB    NOT NULL,
	PRIMARY KEY (line, emoji, who)
) STRICT, WITHOUT ROWID;

-- What clients called their writes, so that none counts twice. print tells the
-- same write from another under the same name.
CREATE TABLE chat_once (
	seq   INTEGER PRIMARY KEY AUTOINCREMENT,
	id    TEXT    NOT NULL UNIQUE,
	print BLOB    NOT NULL,
	line  INTEGER NOT NULL,
	at    INTEGER NOT NULL
) STRICT;

CREATE INDEX chat_once_at ON chat_once (at);

CREATE TABLE chat_rooms (
	room   TEXT    NOT NULL PRIMARY KEY,
	slow   INTEGER NOT NULL, -- seconds
	closed INTEGER NOT NULL,
	links  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE chat_sanctions (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	kind    TEXT    NOT NULL CHECK (kind IN ('mute', 'shadow', 'ban')),
	name    TEXT    NOT NULL, -- of the author, as it was
	reason  TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	until   INTEGER NOT NULL, -- epoch milliseconds; 0: for good
	device  BLOB,
	address BLOB
) STRICT;

CREATE TABLE chat_words (
	place  INTEGER NOT NULL PRIMARY KEY,
	word   TEXT    NOT NULL,
	action TEXT    NOT NULL,
	stem   INTEGER NOT NULL
) STRICT;

CREATE TABLE chat_audit (
	id     INTEGER PRIMARY KEY AUTOINCREMENT,
	at     INTEGER NOT NULL,
	who    TEXT    NOT NULL, -- the operator's address
	action TEXT    NOT NULL,
	target TEXT    NOT NULL,
	detail TEXT    NOT NULL
) STRICT;

CREATE TABLE chat_state (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	salt BLOB NOT NULL
) STRICT;

INSERT INTO chat_state VALUES (1, randomblob(32));
