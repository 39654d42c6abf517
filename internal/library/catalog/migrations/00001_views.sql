-- Searches that an operator keeps by name.
-- +goose Up
CREATE TABLE catalog_view (
    name  TEXT    PRIMARY KEY,
    place INTEGER NOT NULL,
    query TEXT    NOT NULL -- JSON
) WITHOUT ROWID;

-- +goose Down
DROP TABLE catalog_view;
