-- What staff uploaded, on its way into the media folder: one row each, as JSON.
-- +goose Up
CREATE TABLE intake_arrival (
    id      TEXT    PRIMARY KEY,
    at_ms   INTEGER NOT NULL,
    state   TEXT    NOT NULL, -- as in arrival, for those who look at the table
    arrival TEXT    NOT NULL
) WITHOUT ROWID;

-- +goose Down
DROP TABLE intake_arrival;
