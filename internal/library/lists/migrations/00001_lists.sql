-- Playlists of the operator's own, and who changed what when.
-- +goose Up
CREATE TABLE lists_list (
    id       INTEGER PRIMARY KEY AUTOINCREMENT, -- none is given twice: a deed names it after it is gone
    settings TEXT    NOT NULL, -- JSON
    items    BLOB    NOT NULL, -- paths relative to the media folder, in order, each followed by a zero byte
    version  INTEGER NOT NULL, -- counts changes
    changed  INTEGER NOT NULL, -- Unix ms
    who      TEXT    NOT NULL
);

-- What the files of items were when they were last seen: a file that is moved keeps its places.
CREATE TABLE lists_file (
    path     BLOB    PRIMARY KEY,
    size     INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL
) WITHOUT ROWID;

-- What was last fetched of a remote playlist.
CREATE TABLE lists_remote (
    list    INTEGER PRIMARY KEY REFERENCES lists_list (id) ON DELETE CASCADE,
    fetched INTEGER NOT NULL, -- Unix ms, of the last that succeeded; 0: none has
    tried   INTEGER NOT NULL, -- Unix ms
    address TEXT    NOT NULL, -- that it was fetched from
    state   TEXT    NOT NULL, -- JSON: what went wrong, and what the next request says of it
    entries TEXT    NOT NULL  -- JSON
);

-- Files that were moved, so that what can be taken back finds them.
CREATE TABLE lists_move (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    at       INTEGER NOT NULL, -- Unix ms
    deed     INTEGER NOT NULL, -- the latest as it was moved
    old_path BLOB    NOT NULL,
    new_path BLOB    NOT NULL
);
CREATE INDEX lists_move_deed ON lists_move (deed);

CREATE TABLE lists_deed (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    at           INTEGER NOT NULL, -- Unix ms
    who          TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    list         INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    undoes       INTEGER NOT NULL, -- id of the deed that it takes back; 0: none
    undone       INTEGER NOT NULL, -- id of the deed that took it back; 0: none
    tracks       INTEGER NOT NULL, -- of the list afterwards
    before       TEXT    NOT NULL, -- settings; empty: they stayed, or there was no list
    after        TEXT    NOT NULL,
    before_items BLOB,             -- deflated; NULL: they stayed, or there was no list
    after_items  BLOB
);
CREATE INDEX lists_deed_list ON lists_deed (list, id);

-- +goose Down
DROP TABLE lists_deed;
DROP TABLE lists_move;
DROP TABLE lists_remote;
DROP TABLE lists_file;
DROP TABLE lists_list;
