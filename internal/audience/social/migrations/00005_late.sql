-- +goose Up
-- The votes of the last day are weighed once a minute: see Social.late.
CREATE INDEX social_votes_at ON social_votes (at);
