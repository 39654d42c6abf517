-- +goose Up
-- Somebody who may go live. Times are epoch milliseconds.
CREATE TABLE live_publishers (
	n         INTEGER PRIMARY KEY AUTOINCREMENT,
	id        TEXT    NOT NULL UNIQUE,
	name      TEXT    NOT NULL,
	show      TEXT    NOT NULL,
	hash      BLOB    NOT NULL, -- SHA-256 of the secret
	auto      INTEGER NOT NULL, -- takes the air without the studio
	from_at   INTEGER NOT NULL, -- 0: no limit
	until_at  INTEGER NOT NULL, -- 0: no limit
	slots     TEXT    NOT NULL, -- JSON list of times of the week
	grace     INTEGER NOT NULL, -- minutes
	revoked   INTEGER NOT NULL,
	created   INTEGER NOT NULL,
	last_live INTEGER NOT NULL  -- 0: never yet
) STRICT;
