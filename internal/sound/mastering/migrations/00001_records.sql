-- What was made of which file. Paths are bytes: file names need not be UTF-8.
-- +goose Up
CREATE TABLE mastering_record (
    output       BLOB    PRIMARY KEY, -- absolute path of the mastered file
    source       BLOB    NOT NULL,    -- absolute path
    size         INTEGER NOT NULL,    -- of the source
    mtime_ns     INTEGER NOT NULL,    -- of the source
    stamp        TEXT    NOT NULL,    -- of how it was made: profile, bit rate, tags, our version
    output_size  INTEGER NOT NULL,
    output_mtime INTEGER NOT NULL,    -- ns
    sha256       TEXT    NOT NULL,    -- of the source
    record       TEXT    NOT NULL,    -- the rest, as JSON
    made_ms      INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX mastering_by_source ON mastering_record (source);

-- +goose Down
DROP TABLE mastering_record;
