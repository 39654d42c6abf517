package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// deckSizes counts the playable tracks of each category.
type deckSizes map[station.Category]int

// sizes leaves out bulletins and posts: whoever makes or approves one has it planned.
func (s *Scheduler) sizes(tracks []station.Track) deckSizes {
	d := deckSizes{}
	for _, t := range tracks {
		if t.Submitter == "" && (t.Category != station.News || s.tells(t.Path).IsZero()) {
			d[t.Category]++
		}
	}
	return d
}

func (d deckSizes) total() (n int) {
	for _, tracks := range d {
		n += tracks
	}
	return n
}

// notYet says that a rebuild is due later.
type notYet struct{ after time.Duration }

func (e *notYet) Error() string { return fmt.Sprintf("rebuild postponed by %s", e.after) }

// settle decides whether the rotation must be rebuilt, and rebuilds it.
func (s *Scheduler) settle(ctx context.Context, cause rotation.Cause) error {
	situation := rotation.Situation{
		Cause: cause, Length: len(s.rot.Entries), Consumed: s.state.Consumed,
		RefreshFraction: s.cfg.Rotation.RefreshFraction,
		StampedDaypart:  s.rot.Daypart, LiveDaypart: rotation.DaypartKey(s.cfg, s.now()), OffTime: s.offTime(),
		StampedLists: s.rot.ListKey, LiveLists: rotation.ListKey(s.cfg, s.lists, s.now()),
	}
	d := rotation.Decide(situation)
	if heard := s.heard; cause == rotation.Write && !d.Rebuild {
		s.heard = false
		if s.expire(); heard && !s.restart && s.queueDue() {
			d.Rebuild, d.Reason = true, "queued"
		}
	}
	if s.early != "" && !d.Rebuild && !s.restart {
		d.Rebuild, d.Reason = true, s.early
	}
	if !d.Rebuild {
		if cause == rotation.Write {
			s.log.Info(d.Log)
		}
		return nil
	}
	if s.restart && cause != rotation.Restart {
		return nil // the rebuild of the restart comes first, once there is a library
	}
	if wait := max(s.firstWait(), s.passing()); wait > 0 {
		return &notYet{wait}
	}
	return s.rebuild(ctx, change{reason: d.Reason, onward: s.goesOn(situation)})
}

// libraryChanged rebuilds the rotation if the library calls for it: at the first
// start, when entries still to come are gone or an operator has said something else of
// them, and when the library has grown much.
func (s *Scheduler) libraryChanged(ctx context.Context) error {
	tracks, scanning := s.opt.Library.Tracks()
	s.publish() // whether there is anything to play may have changed
	if len(tracks) == 0 {
		return s.nothingToPlay(scanning)
	}
	if wait := s.passing(); wait > 0 {
		return &notYet{wait}
	}
	switch {
	case s.restart:
		return s.settle(ctx, rotation.Restart)
	case len(s.rot.Entries) == 0:
		return s.settle(ctx, rotation.Write)
	case s.lost():
		if wait := losePause - s.opt.Now().Sub(s.builtAt); wait > 0 {
			return &notYet{wait}
		}
		return s.settle(ctx, rotation.Purged)
	case s.problem != "": // the failed rebuild is still due
		return s.rebuild(ctx, s.owed)
	case s.outdated():
		if wait := losePause - s.opt.Now().Sub(s.builtAt); wait > 0 {
			return &notYet{wait}
		}
		return s.rebuild(ctx, change{reason: "a planned track was edited"})
	case s.replanned():
		if wait := losePause - s.opt.Now().Sub(s.builtAt); wait > 0 {
			return &notYet{wait}
		}
		return s.rebuild(ctx, change{reason: "playlists"})
	}
	is := s.sizes(tracks)
	if !grown(s.built, is) {
		return s.drifted(ctx)
	}
	// A list of a handful repeats them: there, no end of the scan is waited for.
	pause, few := growthPause, doubled(s.built, is)
	if few {
		pause = losePause
	}
	if wait := pause - s.opt.Now().Sub(s.builtAt); wait > 0 {
		return &notYet{wait}
	}
	if scanning && !few {
		return &notYet{growthPause / 10}
	}
	return s.rebuild(ctx, change{reason: "library has grown"})
}

// firstWait returns how long a first start, which has nothing on air yet, waits
// rather than build from the few files that were found first.
func (s *Scheduler) firstWait() time.Duration {
	tracks, _ := s.opt.Library.Tracks()
	if len(s.rot.Entries) > 0 || len(tracks) == 0 || len(tracks) >= s.cfg.Rotation.BufferMax {
		return 0
	}
	if s.firstSeen.IsZero() {
		s.firstSeen = s.opt.Now()
	}
	return firstPatience - s.opt.Now().Sub(s.firstSeen)
}

// nothingToPlay keeps what is on air: an empty rotation is never written.
func (s *Scheduler) nothingToPlay(scanning bool) error {
	if scanning {
		return &notYet{firstPatience}
	}
	return nil
}

// left returns the entries of the rotation on air that are still to come.
func (s *Scheduler) left() []rotation.Entry {
	return s.rot.Entries[min(s.state.Consumed, len(s.rot.Entries)):]
}

// lost reports that an entry still to come has left the library.
func (s *Scheduler) lost() bool {
	return slices.ContainsFunc(s.left(), func(e rotation.Entry) bool {
		_, ok := s.opt.Library.Find(e.Track.Path)
		return !ok
	})
}

// grown reports that a category is no longer empty, or that the library is more
// than half as large again.
func grown(was, is deckSizes) bool {
	before, after := 0, 0
	for c, n := range is {
		if was[c] == 0 && n > 0 {
			return true
		}
		before, after = before+was[c], after+n
	}
	return after > before*3/2
}

// doubled reports that a library of few tracks has at least twice as many now.
func doubled(was, is deckSizes) bool {
	return was.total() < fewTracks && is.total() >= 2*was.total()
}

// pushTries bounds how often media that is not in place is dropped and the
// rotation built again.
const pushTries = 4

// change is a rebuild to be made.
type change struct {
	reason string
	head   string           // path that opens the rotation, whatever the rules say
	headOf station.Category // category whose best track opens it
	queued string           // path of the queue that must be among the first
	hand   *hand            // what is held from now on; nil: what is held already
	// cut: the engine skips to the new head at once. Otherwise what is on air
	// ends first.
	cut bool
	// onward: what was planned goes on, see rest.
	onward bool
}

// opens reports that a rotation begins with the requested head, if there is one.
func (c change) opens(rot rotation.Rotation) bool {
	first := rot.Entries[0].Track
	if c.queued != "" && !slices.ContainsFunc(rot.Entries[:min(mostQueued, len(rot.Entries))], func(e rotation.Entry) bool { return e.Track.Path == c.queued }) {
		return false
	}
	if c.hand != nil && c.hand.must != "" && !slices.ContainsFunc(slices.Concat(rot.Entries, rot.Behind), func(e rotation.Entry) bool { return e.Held && e.Track.Path == c.hand.must }) {
		return false
	}
	return (c.head == "" || first.Path == c.head) && (c.headOf == "" || first.Category == c.headOf)
}

// wanted is what a rotation was asked to have, and by which order.
func (c change) wanted() (order, what string) {
	if c.hand != nil {
		return string(Insert), c.hand.must
	}
	return "play", cmp.Or(c.head, string(c.headOf), c.queued)
}

// rebuild builds, pushes, verifies and commits; the push's write makes the engine
// reload. If any step fails, the old rotation stays on air.
func (s *Scheduler) rebuild(ctx context.Context, c change) error {
	err := s.attempt(ctx, c)
	var wait *notYet
	var refused *refusal
	if err == nil || errors.As(err, &wait) || errors.As(err, &refused) {
		return err
	}
	s.owed = change{reason: c.reason, onward: c.onward}
	return &commitError{err}
}

func (s *Scheduler) attempt(ctx context.Context, c change) error {
	tracks, scanning := s.opt.Library.Tracks()
	if len(tracks) == 0 {
		return s.nothingToPlay(scanning)
	}
	var gone map[string]bool
	lists := s.listsNow()
	for range pushTries {
		rot := s.plan(c, tracks, lists, gone)
		if len(rot.Entries) == 0 && len(gone) > 0 {
			return &awayError{fmt.Errorf("none of the %d media files is there: is the media folder mounted? %w", len(tracks), station.ErrUnavailable)}
		}
		if len(rot.Entries) == 0 {
			return s.nothingToPlay(scanning)
		}
		if !c.opens(rot) {
			return &refusal{noMedia(c.wanted())}
		}
		planned := rot.Entries
		rot, items, rest, err := s.deliver(ctx, rot)
		var missing *MissingError
		if errors.As(err, &missing) {
			s.log.Warn("media files are missing, building without them", "files", len(missing.Paths), "first", missing.Paths[0])
			gone = s.drop(gone, planned, missing)
			continue
		}
		if err != nil {
			return err
		}
		if err := s.commit(ctx, rot, c.reason); err != nil {
			return err
		}
		s.delivered, s.rest = items, rest
		s.restart, s.heard, s.early, s.problem, s.misses = false, false, "", "", 0
		s.built, s.builtAt = s.sizes(tracks), s.opt.Now()
		s.listedWith(lists)
		s.publish()
		s.log.Info("rotation rebuilt", "reason", c.reason, "entries", len(rot.Entries), "daypart", rot.Daypart)
		return nil
	}
	return &awayError{fmt.Errorf("build rotation: media files were missing in each of %d attempts: %w", pushTries, station.ErrUnavailable)}
}

// deliver pushes a rotation and returns it cut to what is in place, as it was delivered, with
// what follows once its media are on the node.
func (s *Scheduler) deliver(ctx context.Context, rot rotation.Rotation) (_ rotation.Rotation, items []playlist.Item, rest []rotation.Entry, _ error) {
	if err := s.announce(ctx, rot); err != nil {
		return rot, nil, nil, fmt.Errorf("announce rotation: %w", err)
	}
	items = s.items(rot)
	kept, err := s.opt.Delivery.Push(ctx, items)
	if err != nil {
		return rot, nil, nil, fmt.Errorf("push rotation: %w", err)
	}
	if kept == len(items) {
		return rot, items, nil, nil
	}
	_, fits, _ := playlist.Encode(items) // it was encoded for the push
	if left := len(items) - fits; left > 0 {
		s.log.Warn("rotation does not fit the playlist file, tail left out", "entries", left)
	}
	if kept < fits {
		rest = rot.Entries[kept:fits]
	}
	return cutTo(rot, kept), items[:kept], rest, nil
}

// cutTo returns a rotation of its first entries, and what is held behind them.
func cutTo(rot rotation.Rotation, kept int) rotation.Rotation {
	rest := rot.Entries[kept:]
	rot.Behind = slices.Clone(rest[:heldOf(rest)])
	rot.Entries = rot.Entries[:kept:kept]
	return rot
}

func (s *Scheduler) items(rot rotation.Rotation) []playlist.Item { return s.itemsOf(rot.Entries) }

// Coming returns what is still to come as it is delivered, next first, with what the node
// still lacks the media of. It may be called from any goroutine.
func (s *Scheduler) Coming() []playlist.Item {
	return s.itemsOf(s.View().Coming())
}

func (s *Scheduler) itemsOf(entries []rotation.Entry) []playlist.Item {
	out := make([]playlist.Item, len(entries))
	for i, e := range entries {
		path, gain := s.opt.Airs(e.Track.Path)
		out[i] = playlist.Item{Path: path, Type: e.Annotation(), Cross: e.Cross}
		if out[i].Type == "" {
			if out[i].Gain = gain; e.Cross == rotation.CrossOf(station.English) {
				out[i].Cross = 0 // the engine's own for music
			}
		}
	}
	return out
}

// indexOf caches the index while the library stays the same.
func (s *Scheduler) indexOf(tracks []station.Track, gone map[string]bool) *rotation.Index {
	if s.index == nil || !sameTracks(tracks, s.tracks) {
		s.index, s.tracks = rotation.NewIndex(tracks), tracks
	}
	if len(gone) > 0 {
		return s.index.Without(gone)
	}
	return s.index
}

// drop returns gone and the planned tracks whose files are missing, by their paths in
// the library.
func (s *Scheduler) drop(gone map[string]bool, planned []rotation.Entry, missing *MissingError) map[string]bool {
	files := map[string]bool{}
	for _, p := range missing.Paths {
		files[p] = true
	}
	out := maps.Clone(gone)
	if out == nil {
		out = map[string]bool{}
	}
	for _, e := range planned {
		if path, _ := s.opt.Airs(e.Track.Path); files[path] {
			out[e.Track.Path] = true
		}
	}
	return out
}

// awayError says that so many media files are missing that no rotation could be
// built: the media folder is away, and will be for a while.
type awayError struct{ err error }

func (e *awayError) Error() string { return e.err.Error() }
func (e *awayError) Unwrap() error { return e.err }

// now is the time in the station's zone.
func (s *Scheduler) now() time.Time { return s.opt.Now().In(s.opt.Zone) }

func (s *Scheduler) publish() {
	tracks, scanning := s.opt.Library.Tracks()
	var notes []rotation.Note
	if s.index != nil {
		notes = rotation.Notes(s.index, s.cfg)
	}
	s.view.Store(&View{
		Rotation: s.rot, Consumed: s.state.Consumed, OnAir: s.air, Past: s.past,
		before: s.before, Reason: s.reason, Problem: s.problem, Waiting: len(tracks) == 0 && !scanning, Beginning: len(s.rot.Entries) == 0 && s.problem == "" && (len(tracks) > 0 || scanning), Config: s.cfg, Notes: notes,
		Queued: s.queued, rest: s.behind(), deeds: s.deeds, failed: s.failed, history: s.state.History, turns: s.state.Turns, lists: s.state.Lists,
	})
	s.changes.Tell()
}
