package social

import (
	"context"
	"database/sql"

	"github.com/athir-radio/athir/internal/station"
)

// Plant approves a post as if it had been processed, without its sound.
func (s *Social) Plant(ctx context.Context, id int64) error {
	p, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	_, err = s.apply(ctx, change{id: id, op: OpPass, who: "test", with: func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE social_posts SET file = ?, duration = 6000 WHERE id = ?`, station.PostFile(string(p.Type), id, "x"), id)
		return err
	}})
	if err != nil {
		return err
	}
	_, err = s.apply(ctx, change{id: id, op: OpApprove, who: "test"})
	return err
}

// MakeRoom is makeRoom.
func (s *Social) MakeRoom(ctx context.Context) error { return s.makeRoom(ctx) }

// FillVoters has the memory of voters be full.
func (s *Social) FillVoters() { s.voters.Store(mostVoters) }

// Forget is forget.
func (s *Social) Forget(ctx context.Context) error { return s.forget(ctx) }

// Met has the station know a listener, as it does since a first vote or reaction.
func (s *Social) Met(ctx context.Context, from Client) error {
	return s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		_, err := s.meet(ctx, tx, s.person(from))
		return err
	})
}

// PlantCandidate has a post wait for its moderator as if it had been processed and nothing
// was found in it, without its sound.
func (s *Social) PlantCandidate(ctx context.Context, id int64) error {
	p, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	_, err = s.apply(ctx, change{id: id, op: OpPass, who: "machine", with: func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE social_posts SET file = ?, duration = 90000, plain = 1 WHERE id = ?`, station.PostFile(string(p.Type), id, "x"), id)
		return err
	}})
	return err
}

// Plainly is plainly for a post with such notes and likenesses.
func Plainly(notes []string, alike int) bool {
	m := &made{alike: make([]Likeness, alike)}
	m.finding.Notes = notes
	return plainly(m)
}

// ElectDue approves what has the votes.
func (s *Social) ElectDue(ctx context.Context) { s.electDue(ctx) }
