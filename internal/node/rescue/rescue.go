// Package rescue is the dead-air guard's hand on the programme: it carries out the guard's
// steps, and finds the recording on air. It decides nothing: onair/guard does.
package rescue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/sound/deadair"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/station"
)

// SourceOf returns the guard's name for what is on air.
func SourceOf(k scheduler.Kind) guard.Source {
	switch k {
	case scheduler.Rotation:
		return guard.Rotation
	case scheduler.Live:
		return guard.Live
	case scheduler.Emergency:
		return guard.EmergencySource
	case scheduler.Boot:
	}
	return guard.Nothing
}

// sightPatience is how long a healthy program may take to answer.
const sightPatience = time.Second

// Programme is the rotation on air, as scheduler.Scheduler has it.
type Programme interface {
	View() *scheduler.View
	Rebuild(ctx context.Context) error
	Skip(ctx context.Context) error
}

// Options are what an Air examines and acts on.
type Options struct {
	OnAir  Programme
	Engine playout.Engine
	File   func(rel string) string // path of a track
	// Shed pauses the work that nobody waits for.
	Shed func()
}

// Air implements guard.Air.
type Air struct{ Options }

// New makes an Air.
func New(o Options) *Air { return &Air{o} }

// Playing implements guard.Air.
func (a *Air) Playing(ctx context.Context) guard.Source {
	ctx, cancel := context.WithTimeout(ctx, sightPatience)
	defer cancel()
	st, err := a.Engine.Status(ctx)
	if err != nil {
		return guard.Nothing
	}
	return SourceOf(scheduler.Kind(st.OnAir))
}

// Take implements guard.Air.
func (a *Air) Take(ctx context.Context, s guard.Step) error {
	switch s {
	case guard.DropLive:
		return a.Engine.DisconnectLive(ctx)
	case guard.Skip:
		return a.Engine.Skip(ctx)
	case guard.Repush:
		st, err := a.Engine.Status(ctx)
		if err == nil && st.OnAir == playout.KindEmergency {
			return errors.Join(a.OnAir.Rebuild(ctx), a.Engine.Emergency(ctx, false))
		}
		return a.OnAir.Skip(ctx)
	case guard.Rewrite:
		return errors.Join(a.OnAir.Rebuild(ctx), a.Engine.Emergency(ctx, false))
	case guard.Shed:
		a.Shed()
		return nil
	case guard.AirEmergency:
		return a.Engine.Emergency(ctx, true)
	case guard.Wait:
		return nil
	case guard.RestartEngine, guard.RestartServer: // the node's own
	}
	return fmt.Errorf("no such step: %s", s)
}

// Release implements guard.Air. The emergency audio ends even if the rotation cannot be
// rebuilt: an old rotation is better than none.
func (a *Air) Release(ctx context.Context) error {
	return errors.Join(a.OnAir.Rebuild(ctx), a.Engine.Emergency(ctx, false))
}

const (
	// before and after bound the part of the recording on air that is judged, around
	// the present moment.
	before  = 20 * time.Second
	after   = 10 * time.Second
	decoder = 10 // niceness
	// overdue is how far outside the recording the present moment may seem to lie, because
	// markers come late and clocks differ. Farther out a clock was set just now: the
	// scheduler follows it within a second (scheduler.OnAir).
	overdue = 10 * time.Second
)

// Original implements guard.Air.
func (a *Air) Original(ctx context.Context) (pcm []int16, now int, err error) {
	air := a.OnAir.View().OnAir
	if air.Kind != scheduler.Rotation || air.Track.Path == "" {
		return nil, 0, fmt.Errorf("no recording is on air: %w", station.ErrConflict)
	}
	at := time.Since(air.StartedAt)
	if length := air.Track.Duration; at < -overdue || length > 0 && at > length+overdue {
		return nil, 0, fmt.Errorf("%w: it lasts %s and would have begun %s ago", guard.ErrUnanswered, length, at.Round(time.Second))
	}
	at = max(0, at)
	dropped := 0
	most := int((before + after).Seconds()) * deadair.Rate
	err = ffmpeg.Decode(ctx, a.File(air.Track.Path), ffmpeg.Decoding{Rate: deadair.Rate, Channels: 1, First: at + after, Nice: decoder}, func(part []float32) error {
		for _, v := range part {
			pcm = append(pcm, int16(32767*max(-1, min(1, v))))
		}
		if drop := len(pcm) - most; drop > most {
			pcm, dropped = append(pcm[:0], pcm[drop:]...), dropped+drop
		}
		return nil
	})
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*ffmpeg.UnfinishedError)) {
		err = fmt.Errorf("%w: %w", guard.ErrUnanswered, err)
	}
	now = int(at.Seconds()*deadair.Rate) - dropped
	return pcm, max(0, min(now, len(pcm))), err
}
