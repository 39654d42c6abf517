-- +goose Up
-- late counts examinations that the machine did not finish in time.
ALTER TABLE content_item ADD COLUMN late INTEGER NOT NULL DEFAULT 0;
-- Refusals that only said so were the machine's fault: they may be offered again.
UPDATE content_item SET retry_ms = 1 WHERE state = 'refused'
    AND (english LIKE '%was not done with it after%' OR english LIKE '%ffmpeg decoded nothing for%');

-- +goose Down
ALTER TABLE content_item DROP COLUMN late;
