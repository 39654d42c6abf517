-- +goose Up

-- Plays of listeners' posts are kept for good. The first index finds what may be forgotten
-- without passing over them, the second the plays of one post or one folder.
CREATE INDEX plays_forgotten ON plays (at) WHERE path NOT GLOB 'social/?*/SOC_[0-9]*';
CREATE INDEX plays_path ON plays (path, at);

-- +goose Down
DROP INDEX plays_path;
DROP INDEX plays_forgotten;
