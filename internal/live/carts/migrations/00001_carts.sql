-- +goose Up
-- The cart wall, of one row: it is read and replaced whole.
CREATE TABLE cart_wall (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	version INTEGER NOT NULL, -- grows with every change
	pages   TEXT    NOT NULL  -- JSON list of pages with their carts
) STRICT;
