CREATE TABLE migrations_chat (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
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
INSERT OR REPLACE INTO migrations_chat VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_chat VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO chat_lines VALUES (1, '"أثير 1"', 1, '"أثير 1"', 'text', '"أثير 1"', '"أثير 1"', 1, 1, 1, 1, 1, X'01FF', X'01FF');
INSERT OR REPLACE INTO chat_lines VALUES (2, '"أثير 2"', 2, '"أثير 2"', 'voice', '"أثير 2"', '"أثير 2"', 2, 2, 2, 2, 2, X'02FF', X'02FF');
INSERT OR REPLACE INTO chat_media VALUES ('"أثير 1"', 1);
INSERT OR REPLACE INTO chat_media VALUES ('"أثير 2"', 2);
INSERT OR REPLACE INTO chat_reactions VALUES (1, '"أثير 1"', X'01FF');
INSERT OR REPLACE INTO chat_reactions VALUES (2, '"أثير 2"', X'02FF');
INSERT OR REPLACE INTO chat_once VALUES (1, '"أثير 1"', X'01FF', 1, 1);
INSERT OR REPLACE INTO chat_once VALUES (2, '"أثير 2"', X'02FF', 2, 2);
INSERT OR REPLACE INTO chat_rooms VALUES ('"أثير 1"', 1, 1, 1);
INSERT OR REPLACE INTO chat_rooms VALUES ('"أثير 2"', 2, 2, 2);
INSERT OR REPLACE INTO chat_sanctions VALUES (1, 'mute', '"أثير 1"', '"أثير 1"', 1, 1, X'01FF', X'01FF');
INSERT OR REPLACE INTO chat_sanctions VALUES (2, 'shadow', '"أثير 2"', '"أثير 2"', 2, 2, X'02FF', X'02FF');
INSERT OR REPLACE INTO chat_words VALUES (1, '"أثير 1"', '"أثير 1"', 1);
INSERT OR REPLACE INTO chat_words VALUES (2, '"أثير 2"', '"أثير 2"', 2);
INSERT OR REPLACE INTO chat_audit VALUES (1, 1, '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"');
INSERT OR REPLACE INTO chat_audit VALUES (2, 2, '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"');
INSERT OR REPLACE INTO chat_state VALUES (1, X'01FF');
