package scheduler

import (
	"context"
	"database/sql"
	"path"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Marker is the playout engine's report that something has begun to be heard.
type Marker struct {
	Engine        string // boot id of the engine
	Seq           uint64 // counts the markers of one boot
	File          string // absolute path as played
	Title, Artist string // as the engine read them
	Type          string
	Kind          Kind
	At            time.Time // as heard
}

// keptPast is how much of the past a View shows.
const keptPast = 30

// clockSlack is how far ahead of ours the engine's clock may be.
const clockSlack = time.Minute

// Completed takes a marker: it moves the cursor to what is heard and puts the
// track on cooldown; both are on disk when it returns nil. A marker that is
// repeated, late, or for a file outside the rotation is answered, never refused
// (see rotation.Advance). outcome names what it did.
func (s *Scheduler) Completed(ctx context.Context, m Marker) (outcome string, err error) {
	err = s.ask(ctx, func(ctx context.Context) error {
		outcome, err = s.completed(ctx, m)
		return err
	})
	return outcome, err
}

func (s *Scheduler) completed(ctx context.Context, m Marker) (string, error) {
	if now := s.opt.Now(); m.At.IsZero() || m.At.After(now.Add(clockSlack)) || m.At.Before(now.Add(-rotation.HistoryKept)) {
		m.At = now
	}
	m.At = m.At.Round(0) // by the wall clock alone: followClock moves it
	switch m.Kind {
	case Rotation:
	case Boot:
		return string(m.Kind), s.engineBooted(ctx)
	default:
		return string(m.Kind), s.elsewhere(ctx, m)
	}
	rel := s.relative(m.File)
	track, known := s.find(rel)
	if !known {
		track = station.Track{Path: rel, Title: m.Title, Artist: m.Artist}
	}
	state, out := rotation.Advance(s.rot, s.state, rotation.Marker{
		Engine: m.Engine, Seq: m.Seq, Path: rel, Artist: track.Artist, Category: track.Category, At: m.At, Submitter: track.Submitter,
	})
	if out.Kind == rotation.Repeated {
		return out.Kind.String(), nil
	}
	air, past := s.air, s.past
	// An older marker that comes late does not end a takeover.
	if out.Kind != rotation.Late && !(m.Engine == s.air.Engine && m.Seq < s.air.Seq) {
		air = OnAir{
			Kind: Rotation, Track: track, Type: m.Type, StartedAt: m.At, Index: out.Index, Engine: m.Engine, Seq: m.Seq,
			Cross: crossOf(track, m.Type),
		}
		past = s.withPast()
	}
	again := out.Kind == rotation.Wrapped && state.Consumed < len(s.rot.Entries) // of what is held some is still to come
	failed := s.passedOver(m, rel, out)
	queued := slices.DeleteFunc(slices.Clone(s.queued), func(path string) bool { return path == rel })
	ahead := s.ahead
	stray := out.Kind == rotation.Unknown && !s.flew(rel)
	if stray && s.holds(rel) {
		ahead = append(slices.Clip(ahead), rel)
	}
	next := s.storing()
	next.State, next.OnAir, next.Past, next.Queued, next.Failed, next.Ahead = state, air, past, queued, failed, ahead
	err := s.opt.DB.Write(ctx, func(tx *sql.Tx) error {
		if err := recordPlay(ctx, tx, m, track, state.Turns.Of(rel)); err != nil {
			return err
		}
		if err := prunePlays(ctx, tx, s.opt.Now()); err != nil {
			return err
		}
		return saveState(ctx, tx, next)
	})
	if err != nil {
		return "", err
	}
	s.state, s.air, s.past, s.queued, s.failed, s.ahead, s.heard = state, air, past, queued, failed, ahead, true
	switch s.early = ""; {
	case again:
		s.early = "the engine began the list again"
	case stray:
		s.early = s.comes(rel)
	}
	s.publish()
	s.log.Info("now playing", "title", track.Title, "artist", track.Artist, "file", rel, "marker", out.Kind.String())
	return out.Kind.String(), nil
}

// crossOf is the cross of a track on the air, which an operator may have put on as another type.
func crossOf(t station.Track, typ string) time.Duration {
	if t.Own != nil && t.Own.Cut.Cross > 0 {
		return t.Own.Cut.Cross
	}
	return rotation.CrossOf(station.Category(typ))
}

// comes returns why to rebuild if what has just been heard is held by hand, or planned for a
// listener who asked for it, or as the next of a playlist: the engine had opened it, and read the list without it
// too late. Otherwise it is empty.
func (s *Scheduler) comes(rel string) (reason string) {
	if s.holds(rel) {
		return "an entry held by hand was heard early"
	}
	for _, e := range s.left() {
		switch {
		case e.Track.Path != rel:
		case e.Guest != "":
			return "a listener's entry was heard early"
		case e.List != 0:
			return "an entry of a playlist was heard early"
		}
	}
	return ""
}

// engineBooted rebuilds for an engine that is starting, since it begins at the
// head of the list and must not repeat what was heard. Until its first marker
// nothing is on air.
func (s *Scheduler) engineBooted(ctx context.Context) error {
	past := s.withPast()
	next := s.storing()
	next.OnAir, next.Past = OnAir{}, past
	err := s.opt.DB.Write(ctx, func(tx *sql.Tx) error { return saveState(ctx, tx, next) })
	if err != nil {
		return err
	}
	s.air, s.past = OnAir{}, past
	s.publish()
	if len(s.rot.Entries) == 0 || !s.restart && s.state.Consumed == 0 && len(s.rot.Flown) == 0 {
		return nil // a first start, or a list of which nothing was heard
	}
	s.restart = true // due until it is done
	return s.settle(ctx, rotation.Restart)
}

// elsewhere takes a marker of the live harbor or the emergency audio: heard,
// but no entry of any rotation.
func (s *Scheduler) elsewhere(ctx context.Context, m Marker) error {
	if s.air.Engine == m.Engine && m.Seq <= s.air.Seq {
		return nil // repeated because its answer was lost, or older
	}
	air := OnAir{
		Kind: m.Kind, Type: m.Type, StartedAt: m.At, Index: -1, Engine: m.Engine, Seq: m.Seq,
		Track: station.Track{Title: m.Title, Artist: m.Artist},
	}
	past := s.withPast()
	next := s.storing()
	next.OnAir, next.Past = air, past
	err := s.opt.DB.Write(ctx, func(tx *sql.Tx) error { return saveState(ctx, tx, next) })
	if err != nil {
		return err
	}
	s.air, s.past = air, past
	s.publish()
	s.log.Info("now playing", "kind", m.Kind, "title", m.Title)
	return nil
}

// withPast returns the past with what is on air added to it.
func (s *Scheduler) withPast() []OnAir {
	if s.air.StartedAt.IsZero() {
		return s.past
	}
	past := append([]OnAir{s.air}, s.past...)
	return past[:min(len(past), keptPast)]
}

// relative returns a marker's path as the registry has it; a foreign path stays as it is.
func (s *Scheduler) relative(abs string) string {
	abs = path.Clean(abs)
	if rel, ok := s.opt.Rel(abs); ok {
		return rel
	}
	return abs
}

// find looks a track up in the rotation first: it may have left the registry since.
func (s *Scheduler) find(rel string) (station.Track, bool) {
	for _, e := range s.rot.Entries {
		if e.Track.Path == rel {
			return e.Track, true
		}
	}
	return s.opt.Library.Find(rel)
}
