package social_test

import (
	"context"

	"github.com/athir-radio/athir/internal/sound/mastering"
)

// failing masters nothing while it has an error.
type failing struct {
	mastering.Desk
	err  error
	then func() // once a file is made; may be nil
}

func (f *failing) Do(ctx context.Context, job mastering.Job, progress func(float64)) (mastering.Record, error) {
	if f.err != nil {
		return mastering.Record{}, f.err
	}
	rec, err := f.Desk.Do(ctx, job, progress)
	if f.then != nil {
		f.then()
	}
	return rec, err
}
