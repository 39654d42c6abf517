-- What an operator says of tracks, by path, and who said what when.
-- +goose Up
CREATE TABLE overlay_note (
    path     BLOB    PRIMARY KEY, -- relative to the media folder; bytes: file names need not be UTF-8
    note     TEXT    NOT NULL,    -- JSON
    size     INTEGER NOT NULL,    -- of the file when it was last seen: a file that is moved keeps its note
    mtime_ns INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE overlay_deed (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    at     INTEGER NOT NULL, -- Unix ms
    who    TEXT    NOT NULL,
    kind   TEXT    NOT NULL,
    fields TEXT    NOT NULL, -- JSON list
    undoes INTEGER NOT NULL, -- id of the deed that it takes back; 0: none
    undone INTEGER NOT NULL  -- id of the deed that took it back; 0: none
);

CREATE TABLE overlay_change (
    deed   INTEGER NOT NULL REFERENCES overlay_deed (id) ON DELETE CASCADE,
    path   BLOB    NOT NULL,
    before TEXT    NOT NULL, -- JSON; empty: there was no note
    after  TEXT    NOT NULL,
    PRIMARY KEY (deed, path)
) WITHOUT ROWID;
CREATE INDEX overlay_change_path ON overlay_change (path, deed);

-- +goose Down
DROP TABLE overlay_change;
DROP TABLE overlay_deed;
DROP TABLE overlay_note;
