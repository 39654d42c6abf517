-- +goose Up
-- The network around an address, as votes have it: one owner has all addresses of it.
ALTER TABLE social_voters ADD COLUMN network BLOB;
ALTER TABLE social_reports ADD COLUMN network BLOB;

CREATE INDEX social_voters_network ON social_voters (network) WHERE network IS NOT NULL;
CREATE INDEX social_reactions_network ON social_reactions (post, network) WHERE network IS NOT NULL;
