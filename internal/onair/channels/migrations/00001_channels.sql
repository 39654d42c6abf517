-- +goose Up
-- One row is a channel beside the main one.
CREATE TABLE channels (
	id         TEXT    PRIMARY KEY,
	name       TEXT    NOT NULL,
	created_at INTEGER NOT NULL -- epoch milliseconds
) STRICT;

-- One row is a track that waits on a channel, first in first out. A path may
-- hold any bytes.
CREATE TABLE channel_queue (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	channel TEXT    NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
	path    BLOB    NOT NULL
) STRICT;

CREATE INDEX channel_queue_channel ON channel_queue (channel, id);

-- +goose Down
DROP TABLE channel_queue;
DROP TABLE channels;
