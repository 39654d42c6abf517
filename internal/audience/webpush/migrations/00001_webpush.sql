-- +goose Up
-- One row is one browser that wants to be told. Times are epoch milliseconds.
CREATE TABLE push_subscriptions (
	n          INTEGER PRIMARY KEY AUTOINCREMENT,
	hash       BLOB    NOT NULL UNIQUE, -- SHA-256 of the endpoint
	endpoint   TEXT    NOT NULL,
	p256dh     BLOB    NOT NULL,
	auth       BLOB    NOT NULL,
	expires    INTEGER NOT NULL, -- 0 for never
	topics     TEXT    NOT NULL, -- words with a space before, between and after
	artists    TEXT    NOT NULL, -- JSON list, as they were written
	lang       TEXT    NOT NULL,
	quiet_from INTEGER NOT NULL, -- minutes of the day; equal to quiet_to for none
	quiet_to   INTEGER NOT NULL,
	zone       TEXT    NOT NULL,
	created    INTEGER NOT NULL,
	updated    INTEGER NOT NULL,
	artist_at  INTEGER NOT NULL, -- when an artist was last told of
	failures   INTEGER NOT NULL, -- in a row
	failing    INTEGER NOT NULL  -- since when; 0 when all is well
) STRICT;

-- A favourite artist, by the key that names are compared by.
CREATE TABLE push_artists (
	key          TEXT    NOT NULL,
	subscription INTEGER NOT NULL REFERENCES push_subscriptions (n) ON DELETE CASCADE,
	PRIMARY KEY (key, subscription)
) STRICT, WITHOUT ROWID;

CREATE INDEX push_artists_subscription ON push_artists (subscription);

-- The key that signs for the station (VAPID): 32 bytes, the scalar. It stands
-- beside the subscriptions because they hold for it alone.
CREATE TABLE push_key (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	private BLOB NOT NULL
) STRICT;

-- The newest thing told of each kind, so that a restart does not tell it again.
CREATE TABLE push_told (
	kind TEXT PRIMARY KEY,
	key  TEXT    NOT NULL,
	at   INTEGER NOT NULL -- when something of the kind last went out
) STRICT, WITHOUT ROWID;
