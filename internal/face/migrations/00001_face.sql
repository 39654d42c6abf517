-- +goose Up
-- The station's face, of one row: it is read and replaced whole, with its pictures, so that
-- no copy of the database has the one without the other.
CREATE TABLE face (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	version INTEGER NOT NULL, -- grows with every change
	face    TEXT    NOT NULL, -- JSON: texts, colours, links, CSS
	logo    BLOB,             -- PNG, made anew from what was sent; NULL: none
	icon    BLOB              -- PNG, 512 × 512; NULL: made from the logo
) STRICT;
