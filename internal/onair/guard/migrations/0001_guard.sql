-- +goose Up
CREATE TABLE guard_alarms (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	kind    TEXT    NOT NULL,
	cause   TEXT    NOT NULL,
	began   INTEGER NOT NULL, -- epoch milliseconds, as all times here
	raised  INTEGER NOT NULL,
	heard   INTEGER NOT NULL, -- 0: not yet
	cleared INTEGER NOT NULL, -- 0: not yet
	steps   TEXT    NOT NULL  -- JSON array
) STRICT;
