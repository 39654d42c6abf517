-- +goose Up
-- What listeners may vote on before a moderator has judged it: see Social.Candidate.
ALTER TABLE social_posts ADD COLUMN plain INTEGER NOT NULL DEFAULT 0; -- 1: the machine found nothing for a person to look at
ALTER TABLE social_posts ADD COLUMN support REAL NOT NULL DEFAULT 0;  -- rank.Support of its votes

UPDATE social_posts SET plain = 1 WHERE status = 'pending' AND alike = '[]' AND NOT EXISTS (
	SELECT 1 FROM json_each(finding, '$.Notes') WHERE value NOT IN ('video_sound_only', 'several_tracks', 'dc_offset', 'mono'));
