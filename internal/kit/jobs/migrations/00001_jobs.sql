-- +goose Up
CREATE TABLE jobs (
	id      TEXT    PRIMARY KEY,
	kind    TEXT    NOT NULL,
	state   TEXT    NOT NULL,
	started INTEGER NOT NULL, -- epoch milliseconds
	record  BLOB    NOT NULL  -- JSON of the whole job
) STRICT;
CREATE INDEX jobs_started ON jobs (started);
