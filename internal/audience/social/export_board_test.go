package social

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/station"
)

// PlantMany adds so many approved posts with their votes and reactions, as if they had
// been there for long. Each has names and a finding of the usual length.
func (s *Social) PlantMany(ctx context.Context, posts, votes, reactions int) error {
	err := s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		for id := int64(1); id <= int64(posts); id++ {
			if err := s.plantOne(ctx, tx, id, votes, reactions); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.publish(ctx)
}

func (s *Social) plantOne(ctx context.Context, tx *sql.Tx, id int64, votes, reactions int) error {
	d := Draft{Type: Song, Title: fmt.Sprintf("أغنيةُ المساء رقم %d", id), Artist: fmt.Sprintf("الفنّان %d", id%500), CreatedBy: "Noor"}
	submitter := s.hashed("device", fmt.Sprint(id%500))
	finding := `{"Notes":["` + strings.Repeat("x", 4000) + `"]}`
	day := int64(24 * 60 * 60 * 1000)
	at := s.millis() - id*day/100
	_, err := tx.ExecContext(ctx, `INSERT INTO social_posts (id, type, title, artist, description, tags, created_by, folded, submitter, rights, status, created, decided,
			approved, source_kind, source_name, source, slug, file, bytes, duration, finding, up, weighed_up)
		VALUES (?, ?, ?, ?, '', '["a","b"]', ?, ?, ?, 'yes', 'approved', ?, ?, ?, 'upload', 'a.mp3', ?, 'x', ?, 1, 200000, ?, ?, ?)`,
		id, d.Type, d.Title, d.Artist, d.CreatedBy, d.folded(), submitter, at, at, at, fmt.Sprintf("%032x", id), station.PostFile("song", id, "x"), finding, votes, votes)
	if err != nil {
		return err
	}
	for n := range votes {
		if _, err := tx.ExecContext(ctx, `INSERT INTO social_votes (post, voter, delta, at, address, network, known) VALUES (?, ?, 1, ?, ?, ?, 1)`,
			id, s.hashed("v", fmt.Sprint(n)), at, s.hashed("a", fmt.Sprint(n)), s.hashed("n", fmt.Sprint(n/2))); err != nil {
			return err
		}
	}
	for n := range reactions {
		if _, err := tx.ExecContext(ctx, `INSERT INTO social_reactions (post, voter, kind, address, network, known) VALUES (?, ?, 'love', ?, ?, 1)`,
			id, s.hashed("v", fmt.Sprint(n)), s.hashed("a", fmt.Sprint(n)), s.hashed("n", fmt.Sprint(n/2))); err != nil {
			return err
		}
	}
	return nil
}

// PlantShort adds a post with the stored form of a short sound.
func (s *Social) PlantShort(ctx context.Context, id int64, short []byte) error {
	return s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		if err := s.plantOne(ctx, tx, id, 0, 0); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO social_prints (post, print, short) VALUES (?, x'', ?)`, id, short)
		return err
	})
}

// AlikeShort returns the posts that sound like a short sound.
func (s *Social) AlikeShort(ctx context.Context, self int64, short fingerprint.Short) ([]Likeness, error) {
	return s.alikeShort(ctx, self, &short)
}
