package whip

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// A desk that is started again while a phone is muted learns of it before it would take the
// hole for a loss; it has not opened the pipe when it is first told. One that is away is told
// the state of the moment in which it is back, not those that came and went.
func TestADeskThatForgetsAMuteIsToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var desk struct{ down, shut, muted, held atomic.Bool }
		var told atomic.Int32
		var phone atomic.Bool
		desk.held.Store(true)
		m := newMuting(func(_ context.Context, muted bool) error {
			switch {
			case desk.down.Load():
				return errors.Join(errors.New("connection refused"), station.ErrUnavailable)
			case desk.shut.Load():
				return station.ErrNotFound
			}
			told.Add(1)
			desk.muted.Store(muted)
			return nil
		}, func() (bool, bool) { return phone.Load(), desk.held.Load() }, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer stop()
		go m.run(ctx)
		knows := func(when string, want bool) {
			t.Helper()
			synctest.Wait()
			if desk.muted.Load() != want {
				t.Fatalf("%s: the desk takes the phone for muted: %v, want %v", when, !want, want)
			}
		}
		set := func(muted bool) {
			phone.Store(muted)
			m.changes()
		}
		set(true)
		knows("a call comes", true)
		desk.muted.Store(false)
		time.Sleep(4 * time.Second) // the desk's patience with a hole is 5 s
		knows("the desk was started again", true)

		desk.down.Store(true)
		for i := range 101 {
			set(i%2 == 0)
		}
		synctest.Wait()
		desk.muted.Store(false)
		desk.down.Store(false)
		desk.shut.Store(true)
		time.Sleep(time.Minute)
		desk.shut.Store(false)
		time.Sleep(4 * time.Second)
		knows("the desk was away, and has opened the pipe", true)

		desk.down.Store(true)
		set(false)
		synctest.Wait()
		desk.down.Store(false)
		time.Sleep(4 * time.Second)
		knows("the call is over", false)
		before := told.Load()
		time.Sleep(time.Hour)
		if n := told.Load() - before; n != 0 {
			t.Errorf("a desk that knows of a phone that speaks is told %d times more", n)
		}
		set(true)
		synctest.Wait()
		desk.held.Store(false) // its connection broke: the desk keeps what it knows
		time.Sleep(mutedAgain)
		synctest.Wait()
		before = told.Load()
		time.Sleep(time.Hour)
		if n := told.Load() - before; n != 0 {
			t.Errorf("of a phone that is gone the desk is told %d times", n)
		}
	})
}
