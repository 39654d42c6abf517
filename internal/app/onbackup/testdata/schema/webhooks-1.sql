CREATE TABLE migrations_webhooks (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
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
CREATE TABLE webhook_keys (
	event TEXT PRIMARY KEY,
	key   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT OR REPLACE INTO migrations_webhooks VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_webhooks VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO webhooks VALUES ('"أثير 1"', '"أثير 1"', '"أثير 1"', X'01FF', X'01FF', 1, 1, '"أثير 1"', 1, 1);
INSERT OR REPLACE INTO webhooks VALUES ('"أثير 2"', '"أثير 2"', '"أثير 2"', X'02FF', X'02FF', 2, 2, '"أثير 2"', 2, 2);
INSERT OR REPLACE INTO webhook_deliveries VALUES (1, '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, X'01FF', 'waiting', 1, 1, 1);
INSERT OR REPLACE INTO webhook_deliveries VALUES (2, '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, X'02FF', 'delivered', 2, 2, 2);
INSERT OR REPLACE INTO webhook_attempts VALUES (1, 1, 1, 1, 1, '"أثير 1"');
INSERT OR REPLACE INTO webhook_attempts VALUES (2, 2, 2, 2, 2, '"أثير 2"');
INSERT OR REPLACE INTO webhook_keys VALUES ('"أثير 1"', '"أثير 1"');
INSERT OR REPLACE INTO webhook_keys VALUES ('"أثير 2"', '"أثير 2"');
