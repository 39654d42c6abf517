-- +goose Up
-- What the clock said when it was last asked what is too old, and since when it is
-- in doubt: epoch milliseconds, 0 for never.
ALTER TABLE chat_state ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chat_state ADD COLUMN doubted INTEGER NOT NULL DEFAULT 0;
