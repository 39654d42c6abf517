-- +goose Up
-- One row is one track that a listener asked for. Times are epoch milliseconds, 0 for
-- never. asker, device, address and wider are keyed hashes: who asked is in no table.
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

INSERT INTO requests_state VALUES (1, randomblob(32), 0);

-- What was done by hand.
CREATE TABLE requests_audit (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	at      INTEGER NOT NULL,
	who     TEXT    NOT NULL, -- studio or asker
	action  TEXT    NOT NULL, -- refuse, remove, cancel, open, close
	request INTEGER NOT NULL, -- 0 for none
	word    TEXT    NOT NULL
) STRICT;
