-- What became of each file of the media folder. Paths are bytes: file names need not be UTF-8.
-- +goose Up
CREATE TABLE aircopy (
    rel         BLOB    PRIMARY KEY, -- path relative to the media folder
    size        INTEGER NOT NULL,    -- of the file that was looked at
    mtime_ns    INTEGER NOT NULL,
    category    TEXT    NOT NULL,
    profile     TEXT    NOT NULL,    -- it was held against
    state       TEXT    NOT NULL,    -- as_is, copy, refused, lost
    reason      TEXT    NOT NULL,    -- of a refusal, for people
    copy        BLOB    NOT NULL,    -- path relative to the folder of copies; empty: there is none
    copy_size   INTEGER NOT NULL,
    duration_us INTEGER NOT NULL,    -- of what airs
    cue_in_us   INTEGER NOT NULL,
    cue_out_us  INTEGER NOT NULL,
    trimmed_us  INTEGER NOT NULL,    -- silence cut off both ends
    lufs        REAL    NOT NULL,
    dbtp        REAL    NOT NULL,
    gain_db     REAL    NOT NULL,
    method      TEXT    NOT NULL,
    at_ms       INTEGER NOT NULL
) WITHOUT ROWID;

-- +goose Down
DROP TABLE aircopy;
