-- +goose Up
-- One row is one address that wants to be told. Times are epoch milliseconds.
-- The secrets stand as they are: each message is signed with them.
CREATE TABLE webhooks (
	id           TEXT    PRIMARY KEY,
	url          TEXT    NOT NULL,
	events       TEXT    NOT NULL, -- JSON list of names
	secret       BLOB    NOT NULL,
	former       BLOB    NOT NULL, -- the secret before it; empty for none
	former_until INTEGER NOT NULL,
	enabled      INTEGER NOT NULL,
	note         TEXT    NOT NULL, -- why it was disabled; empty for by order
	created      INTEGER NOT NULL,
	failing      INTEGER NOT NULL  -- since when nothing has arrived; 0 when all is well
) STRICT;

-- One row is one message to one hook: the queue, and its log.
CREATE TABLE webhook_deliveries (
	seq      INTEGER PRIMARY KEY AUTOINCREMENT,
	id       TEXT    NOT NULL UNIQUE, -- the same at every attempt
	hook     TEXT    NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
	event    TEXT    NOT NULL,
	at       INTEGER NOT NULL, -- when it happened
	body     BLOB    NOT NULL,
	state    TEXT    NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed', 'dropped')),
	due      INTEGER NOT NULL, -- of the next attempt, while it waits
	tries    INTEGER NOT NULL, -- since it was last put in the queue
	attempts INTEGER NOT NULL  -- ever
) STRICT;

CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (hook, seq) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (hook, seq);

CREATE TABLE webhook_attempts (
	delivery INTEGER NOT NULL REFERENCES webhook_deliveries (seq) ON DELETE CASCADE,
	n        INTEGER NOT NULL,
	at       INTEGER NOT NULL,
	status   INTEGER NOT NULL, -- of HTTP; 0 for no answer
	duration INTEGER NOT NULL, -- milliseconds
	error    TEXT    NOT NULL,
	PRIMARY KEY (delivery, n)
) STRICT, WITHOUT ROWID;

-- The key of the newest message of each event that has one.
CREATE TABLE webhook_keys (
	event TEXT PRIMARY KEY,
	key   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
