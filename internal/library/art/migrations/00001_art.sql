-- What is in files beside their sound: pictures and words.
-- +goose Up
CREATE TABLE art_file (
    path     BLOB    PRIMARY KEY, -- relative to the media folder; bytes: file names need not be UTF-8
    size     INTEGER NOT NULL,    -- of the file when it was looked at
    mtime_ns INTEGER NOT NULL,
    beside   INTEGER NOT NULL,    -- version of the file of words beside it; 0: there was none
    cover    TEXT    NOT NULL     -- id of its picture; empty: none
) WITHOUT ROWID;
CREATE INDEX art_file_cover ON art_file (cover) WHERE cover <> '';

CREATE TABLE art_lyrics (
    path   BLOB PRIMARY KEY,
    lyrics TEXT NOT NULL,
    synced TEXT NOT NULL -- JSON, a list of {atMs, text}; empty: without times
);

-- +goose Down
DROP TABLE art_lyrics;
DROP TABLE art_file;
