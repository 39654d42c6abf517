-- Paths are bytes relative to the media root: file names need not be UTF-8.
-- +goose Up
CREATE TABLE media_track (
    path        BLOB    PRIMARY KEY,
    category    TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    artist      TEXT    NOT NULL,
    album       TEXT    NOT NULL,
    genre       TEXT    NOT NULL,
    license     TEXT    NOT NULL,
    duration_us INTEGER NOT NULL,
    size        INTEGER NOT NULL,
    mtime_ns    INTEGER NOT NULL,
    stamp       INTEGER NOT NULL, -- of what else its row was made from: reader version, credits
    added_ms    INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE media_quarantine (
    path     BLOB    PRIMARY KEY,
    reason   TEXT    NOT NULL,
    size     INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    stamp    INTEGER NOT NULL, -- 0: look again at every scan
    since_ms INTEGER NOT NULL
) WITHOUT ROWID;

-- One row. generation grows with every commit, so that another process sees it.
CREATE TABLE media_state (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    root       BLOB    NOT NULL,
    generation INTEGER NOT NULL,
    scanned_ms INTEGER NOT NULL
);
INSERT INTO media_state VALUES (1, x'', 0, 0);

-- +goose Down
DROP TABLE media_state;
DROP TABLE media_quarantine;
DROP TABLE media_track;
