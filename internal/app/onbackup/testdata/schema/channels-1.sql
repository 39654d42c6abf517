CREATE TABLE migrations_channels (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE channels (
	id         TEXT    PRIMARY KEY,
	name       TEXT    NOT NULL,
	created_at INTEGER NOT NULL -- epoch milliseconds
) STRICT;
CREATE TABLE channel_queue (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	channel TEXT    NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
	path    BLOB    NOT NULL
) STRICT;
CREATE INDEX channel_queue_channel ON channel_queue (channel, id);
INSERT OR REPLACE INTO migrations_channels VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_channels VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO channels VALUES ('"أثير 1"', '"أثير 1"', 1);
INSERT OR REPLACE INTO channels VALUES ('"أثير 2"', '"أثير 2"', 2);
INSERT OR REPLACE INTO channel_queue VALUES (1, '"أثير 1"', X'01FF');
INSERT OR REPLACE INTO channel_queue VALUES (2, '"أثير 2"', X'02FF');
