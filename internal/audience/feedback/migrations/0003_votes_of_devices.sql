-- +goose Up
-- Each device of an address has its own vote: address and wider, the network that
-- an address of IPv6 lies in, are keyed hashes as voter is, to bound how many an
-- address has. Both are null where it is not known or nobody's.
--
-- A vote from before has no address in its row; its voter is the hash of one. It
-- counts on, until a device of that address votes on the same track: the vote was
-- the last that somebody behind it cast, and may be that device's own.
ALTER TABLE votes ADD COLUMN address BLOB;
ALTER TABLE votes ADD COLUMN wider BLOB;

CREATE INDEX votes_address ON votes (path, address) WHERE address IS NOT NULL;
CREATE INDEX votes_wider ON votes (path, wider) WHERE wider IS NOT NULL;
