CREATE TABLE migrations_people (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE people_users (
	n          INTEGER PRIMARY KEY AUTOINCREMENT,
	id         TEXT    NOT NULL UNIQUE,
	login      TEXT    NOT NULL UNIQUE, -- what is typed, folded
	name       TEXT    NOT NULL,        -- what is shown
	role       TEXT    NOT NULL,
	locked     INTEGER NOT NULL,
	password   TEXT    NOT NULL,        -- argon2id in PHC form; '': none yet
	totp       TEXT    NOT NULL,        -- base32; '': none
	totp_step  INTEGER NOT NULL,        -- the newest step that was used: each is used once
	created    INTEGER NOT NULL,
	seen       INTEGER NOT NULL         -- 0: never yet
) STRICT;
CREATE TABLE people_keys (
	n       INTEGER PRIMARY KEY AUTOINCREMENT,
	id      TEXT    NOT NULL UNIQUE,
	user    TEXT    NOT NULL REFERENCES people_users (id) ON DELETE CASCADE,
	name    TEXT    NOT NULL,
	role    TEXT    NOT NULL, -- at most this one's rights, and never more than its user's
	hash    BLOB    NOT NULL UNIQUE, -- SHA-256 of the key
	until   INTEGER NOT NULL, -- 0: no end
	created INTEGER NOT NULL,
	used    INTEGER NOT NULL  -- day; 0: never yet
) STRICT;
CREATE INDEX people_keys_user ON people_keys (user);
CREATE TABLE people_sessions (
	hash    BLOB    PRIMARY KEY, -- SHA-256 of the cookie's token
	id      TEXT    NOT NULL UNIQUE,
	user    TEXT    NOT NULL REFERENCES people_users (id) ON DELETE CASCADE,
	agent   TEXT    NOT NULL, -- browser and system, as it says
	created INTEGER NOT NULL,
	seen    INTEGER NOT NULL,
	until   INTEGER NOT NULL
) STRICT;
CREATE INDEX people_sessions_user ON people_sessions (user);
CREATE TABLE people_invitations (
	hash  BLOB    PRIMARY KEY, -- SHA-256 of the link's token
	user  TEXT    NOT NULL UNIQUE REFERENCES people_users (id) ON DELETE CASCADE,
	until INTEGER NOT NULL
) STRICT;
CREATE TABLE people_recovery (
	hash BLOB NOT NULL,
	user TEXT NOT NULL REFERENCES people_users (id) ON DELETE CASCADE,
	PRIMARY KEY (user, hash)
) STRICT;
CREATE TABLE people_passkeys (
	id         BLOB    PRIMARY KEY,
	user       TEXT    NOT NULL REFERENCES people_users (id) ON DELETE CASCADE,
	name       TEXT    NOT NULL,
	credential TEXT    NOT NULL, -- JSON of the library
	created    INTEGER NOT NULL,
	used       INTEGER NOT NULL -- day; 0: never yet
) STRICT;
CREATE INDEX people_passkeys_user ON people_passkeys (user);
CREATE TABLE people_orders (
	n       INTEGER PRIMARY KEY AUTOINCREMENT,
	at      INTEGER NOT NULL,
	user    TEXT    NOT NULL, -- '': the station key, or nobody's
	name    TEXT    NOT NULL,
	way     TEXT    NOT NULL, -- session, key, station key, admin key; '': nobody, where the station has no key
	order_  TEXT    NOT NULL, -- method and route
	target  TEXT    NOT NULL, -- what the route's path names
	detail  TEXT    NOT NULL, -- JSON, without secrets
	address TEXT    NOT NULL,
	status  INTEGER NOT NULL
) STRICT;
CREATE INDEX people_orders_user ON people_orders (user, n);
INSERT OR REPLACE INTO migrations_people VALUES (1, 0, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO migrations_people VALUES (2, 1, 1, '2026-11-21 12:00:00');
INSERT OR REPLACE INTO people_users VALUES (1, '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, '"أثير 1"', '"أثير 1"', 1, 1, 1);
INSERT OR REPLACE INTO people_users VALUES (2, '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, '"أثير 2"', '"أثير 2"', 2, 2, 2);
INSERT OR REPLACE INTO people_keys VALUES (1, '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', X'01FF', 1, 1, 1);
INSERT OR REPLACE INTO people_keys VALUES (2, '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', X'02FF', 2, 2, 2);
INSERT OR REPLACE INTO people_sessions VALUES (X'01FF', '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, 1, 1);
INSERT OR REPLACE INTO people_sessions VALUES (X'02FF', '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, 2, 2);
INSERT OR REPLACE INTO people_invitations VALUES (X'01FF', '"أثير 1"', 1);
INSERT OR REPLACE INTO people_invitations VALUES (X'02FF', '"أثير 2"', 2);
INSERT OR REPLACE INTO people_recovery VALUES (X'01FF', '"أثير 1"');
INSERT OR REPLACE INTO people_recovery VALUES (X'02FF', '"أثير 2"');
INSERT OR REPLACE INTO people_passkeys VALUES (X'01FF', '"أثير 1"', '"أثير 1"', '"أثير 1"', 1, 1);
INSERT OR REPLACE INTO people_passkeys VALUES (X'02FF', '"أثير 2"', '"أثير 2"', '"أثير 2"', 2, 2);
INSERT OR REPLACE INTO people_orders VALUES (1, 1, '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', '"أثير 1"', 1);
INSERT OR REPLACE INTO people_orders VALUES (2, 2, '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', '"أثير 2"', 2);
