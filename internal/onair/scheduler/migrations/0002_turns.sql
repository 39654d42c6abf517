-- +goose Up

-- How many turns each track has had in its deck, and when the last was. Plays
-- are forgotten after 72 hours; a large deck takes weeks to go round.
CREATE TABLE turns (
    path  TEXT PRIMARY KEY, -- relative to the media root
    round INTEGER NOT NULL,
    at    INTEGER NOT NULL  -- epoch milliseconds
) STRICT, WITHOUT ROWID;

INSERT INTO turns (path, round, at)
SELECT path, max(round), max(at) FROM plays GROUP BY path;

-- +goose Down
DROP TABLE turns;
