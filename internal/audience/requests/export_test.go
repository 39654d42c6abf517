package requests

import (
	"context"
	"time"
)

// Look is one turn of Run.
func (r *Requests) Look(ctx context.Context) time.Duration { return r.look(ctx) }

// List makes the list of everything, anew or as it is kept, and returns how long it is.
func (r *Requests) List(ctx context.Context, anew bool) (int, error) {
	s := r.desk.ready()
	m, err := r.moment(ctx, r.opt.DB.Read(), sender{})
	if err != nil {
		return 0, err
	}
	if anew {
		r.whole.of = state{}
	}
	return len(r.listed(s, m)), nil
}

// ByArtist is the list of everything in the order of the shelf.
func (r *Requests) ByArtist(ctx context.Context) (int, error) {
	s := r.desk.ready()
	m, err := r.moment(ctx, r.opt.DB.Read(), sender{})
	_, total := s.index.Search("", 0, Page, func(i int) bool { return s.tracks[i].Duration >= m.air.Shortest })
	return total, err
}
