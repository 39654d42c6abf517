-- +goose Up
-- A hash of the id of the device that subscribed, which other tables know it by: what is
-- for its owner alone goes there. Null where it named none.
ALTER TABLE push_subscriptions ADD COLUMN device BLOB;

CREATE INDEX push_subscriptions_device ON push_subscriptions (device) WHERE device IS NOT NULL;
