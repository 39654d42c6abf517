-- Fingerprints of the library. Paths are bytes: file names need not be UTF-8.
-- +goose Up
CREATE TABLE duplicates_print (
    path     BLOB    PRIMARY KEY, -- relative to the media folder
    size     INTEGER NOT NULL,    -- of the file the print is of
    mtime_ns INTEGER NOT NULL,
    artist   TEXT    NOT NULL,
    title    TEXT    NOT NULL,
    print    BLOB    NOT NULL     -- items of 32 bits, low byte first; empty: it has none
);

-- +goose Down
DROP TABLE duplicates_print;
