-- +goose Up

-- Where the station stands: cursor, anti-repeat state without its history, and
-- what is on air. One row, one document: it is always read whole.
CREATE TABLE onair_state (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    doc  BLOB NOT NULL
) STRICT;

-- The rotation on air, and the one that is being put on air. A crash between
-- push and commit leaves 'pending': the playlist file then tells which of the
-- two is on air.
CREATE TABLE onair_rotation (
    slot TEXT PRIMARY KEY CHECK (slot IN ('committed', 'pending')),
    doc  BLOB NOT NULL
) STRICT;

-- What aired, as heard. A marker that comes twice is one play.
CREATE TABLE plays (
    id       INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL, -- epoch milliseconds
    engine   TEXT    NOT NULL, -- boot id of the playout engine
    seq      INTEGER NOT NULL, -- its count of markers
    path     TEXT    NOT NULL, -- relative to the media root
    artist   TEXT    NOT NULL,
    title    TEXT    NOT NULL,
    category TEXT    NOT NULL,
    round    INTEGER NOT NULL, -- of the track's turns: see package rotation
    UNIQUE (engine, seq)
) STRICT;

CREATE INDEX plays_at ON plays (at);

-- +goose Down
DROP TABLE plays;
DROP TABLE onair_rotation;
DROP TABLE onair_state;
