CREATE TABLE migrations_requests (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE requests (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	key      BLOB    UNIQUE, -- of the client's own id for the write; null without one
	path     TEXT    NOT NULL,
	title    TEXT    NOT NULL,
	artist   TEXT    NOT NULL,
	category TEXT    NOT NULL,
	duration INTEGER NOT NULL, -- milliseconds
	name     TEXT    NOT NULL,
	note     TEXT    NOT NULL,
	asker    BLOB,             -- null for this machine without a device
	device   BLOB,             -- of client.DeviceKey: where a message to the asker goes
	address  BLOB,
	wider    BLOB,
	status   TEXT    NOT NULL, -- waiting, planned, aired, refused, expired, cancelled
	word     TEXT    NOT NULL, -- of the studio, with a refusal
	at       INTEGER NOT NULL,
	closed   INTEGER NOT NULL, -- when it aired, or was refused; 0 while it is open
	airing   TEXT    NOT NULL, -- id of the airing; empty before
	told     INTEGER NOT NULL  -- 1 once the asker was told that it comes soon
) STRICT;
CREATE INDEX requests_open ON requests (id) WHERE closed = 0;
CREATE INDEX requests_closed ON requests (closed);
CREATE INDEX requests_asker ON requests (asker, at);
CREATE INDEX requests_address ON requests (address, at);
CREATE INDEX requests_wider ON requests (wider, at);
CREATE TABLE requests_state (
	id     INTEGER PRIMARY KEY CHECK (id = 1),
	salt   BLOB    NOT NULL,
	closed INTEGER NOT NULL -- 1 while the studio takes none
) STRICT;
CREATE TABLE requests_audit (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	at      INTEGER NOT NULL,
	who     TEXT    NOT NULL, -- studio or asker
	action  TEXT    NOT NULL, -- refuse, remove, cancel, open, close
	request INTEGER NOT NULL, -- 0 for none
	word    TEXT    NOT NULL
) STRICT;
INSERT OR REPLACE INTO migrations_requests VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_requests VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO requests VALUES (1, X'01FF', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, '"أثير 1"', '"أثير 1"', X'01FF', X'01FF', X'01FF', X'01FF', '"أثير 1"', '"أثير 1"', 1, 1, '"أثير 1"', 1);
INSERT OR REPLACE INTO requests VALUES (2, X'02FF', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, '"أثير 2"', '"أثير 2"', X'02FF', X'02FF', X'02FF', X'02FF', '"أثير 2"', '"أثير 2"', 2, 2, '"أثير 2"', 2);
INSERT OR REPLACE INTO requests_state VALUES (1, X'01FF', 1);
INSERT OR REPLACE INTO requests_audit VALUES (1, 1, '"أثير 1"', '"أثير 1"', 1, '"أثير 1"');
INSERT OR REPLACE INTO requests_audit VALUES (2, 2, '"أثير 2"', '"أثير 2"', 2, '"أثير 2"');
