CREATE TABLE migrations_webpush (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
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
CREATE TABLE push_artists (
	key          TEXT    NOT NULL,
	subscription INTEGER NOT NULL REFERENCES push_subscriptions (n) ON DELETE CASCADE,
	PRIMARY KEY (key, subscription)
) STRICT, WITHOUT ROWID;
CREATE INDEX push_artists_subscription ON push_artists (subscription);
CREATE TABLE push_key (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	private BLOB NOT NULL
) STRICT;
CREATE TABLE push_told (
	kind TEXT PRIMARY KEY,
	key  TEXT    NOT NULL,
	at   INTEGER NOT NULL -- when something of the kind last went out
) STRICT, WITHOUT ROWID;
INSERT OR REPLACE INTO migrations_webpush VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_webpush VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO push_subscriptions VALUES (1, X'01FF', '"أثير 1"', X'01FF', X'01FF', 1, '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, 1, '"أثير 1"', 1, 1, 1, 1, 1);
INSERT OR REPLACE INTO push_subscriptions VALUES (2, X'02FF', '"أثير 2"', X'02FF', X'02FF', 2, '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, 2, '"أثير 2"', 2, 2, 2, 2, 2);
INSERT OR REPLACE INTO push_artists VALUES ('"أثير 1"', 1);
INSERT OR REPLACE INTO push_artists VALUES ('"أثير 2"', 2);
INSERT OR REPLACE INTO push_key VALUES (1, X'01FF');
INSERT OR REPLACE INTO push_told VALUES ('"أثير 1"', '"أثير 1"', 1);
INSERT OR REPLACE INTO push_told VALUES ('"أثير 2"', '"أثير 2"', 2);
