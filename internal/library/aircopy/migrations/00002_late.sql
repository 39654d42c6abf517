-- +goose Up
-- Refusals that only said that the machine was slow: to be decided again.
UPDATE aircopy SET state = 'lost' WHERE state = 'refused'
    AND (reason LIKE '%was not done with it after%' OR reason LIKE 'ffmpeg decoded nothing for%');

-- +goose Down
SELECT 1;
