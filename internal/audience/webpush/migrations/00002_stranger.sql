-- +goose Up
-- The domain of a host that is none of the browsers' push services; empty for
-- theirs. There are bounds for it.
ALTER TABLE push_subscriptions ADD COLUMN stranger TEXT NOT NULL DEFAULT '';

CREATE INDEX push_subscriptions_stranger ON push_subscriptions (stranger) WHERE stranger <> '';
