package aircopy

import (
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Snapshot is what can air at one moment. It never changes; share it freely.
type Snapshot struct {
	// Tracks is sorted by path. Size and Duration are of what airs: of the copy
	// where there is one. ModTime is the file's own.
	Tracks  []station.Track
	Refused []Refusal // sorted by path
	Quieter []Quieter // sorted by path: those of Tracks that air below their loudness
	// Generation grows with every change of Tracks or Refused while this process
	// runs.
	Generation uint64
	Work       Work
	// Problem says what keeps files from being mastered, for people; empty when
	// nothing does.
	Problem string
}

// Refusal is a file that cannot air.
type Refusal struct {
	Path   string // relative to the media folder
	Reason string // for people
	Since  time.Time
}

// Quieter is a track whose copy stayed under the loudness of its profile, because its
// limiter would have had to go too deep: see mastering.Profile.MaxDepth.
type Quieter struct {
	Path string
	LUFS float64 // of what airs
	By   float64 // LU under the profile's target
}

// worthTelling is how much quieter than its target (LU) a copy must be to be told of:
// less passes as on target.
const worthTelling = 0.5

// Work is the work that is left.
type Work struct {
	Waiting int           // undecided files, including those in work
	Silent  int           // of them, those of which nothing airs meanwhile
	Songs   int           // of these, music
	Early   int           // songs that air from their own files until their copies are made
	Current []Current     // in work
	Left    time.Duration // estimated; 0 while unknown
}

// Current is a file in work.
type Current struct {
	Path  string  // relative to the media folder
	Share float64 // done, 0 to 1
}

// Find returns the track with that path.
func (s *Snapshot) Find(path string) (station.Track, bool) {
	i, ok := slices.BinarySearchFunc(s.Tracks, path, func(t station.Track, p string) int { return strings.Compare(t.Path, p) })
	if !ok {
		return station.Track{}, false
	}
	return s.Tracks[i], true
}

// Snapshot returns what can air, as last published; it never waits.
func (r *Rack) Snapshot() *Snapshot { return r.shown.Load() }

// Subscribe returns a channel that receives after every change of Tracks or
// Refused, at most about twice a second. Several may become one signal. Call
// cancel when done.
func (r *Rack) Subscribe() (changed <-chan struct{}, cancel func()) { return r.subs.Subscribe() }

// show publishes which of tracks can air.
func (r *Rack) show(tracks []station.Track, work Work, problem string) {
	s := &Snapshot{Tracks: tracks, Work: work, Problem: problem}
	if !r.opt.Disabled {
		s.Tracks, s.Refused, s.Quieter = r.fit(tracks)
	}
	if old := r.shown.Load(); old != nil {
		s.Generation = old.Generation
		if slices.Equal(s.Tracks, old.Tracks) && slices.Equal(s.Refused, old.Refused) && slices.Equal(s.Quieter, old.Quieter) {
			r.shown.Store(s)
			return
		}
	}
	s.Generation++
	r.shown.Store(s)
	r.subs.Tell()
}

// progress publishes the state of the work when nothing else has changed.
func (r *Rack) progress(work Work, problem string) {
	s := *r.shown.Load()
	s.Work, s.Problem = work, problem
	r.shown.Store(&s)
}

func (r *Rack) fit(tracks []station.Track) ([]station.Track, []Refusal, []Quieter) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	fit := make([]station.Track, 0, min(len(tracks), len(r.rows)))
	var out []Refusal
	var quieter []Quieter
	for i := range tracks {
		t := &tracks[i]
		w, ok := r.rows[t.Path]
		switch {
		case ok && w.airs(*t):
			fit = append(fit, *t)
			last := &fit[len(fit)-1]
			last.Duration = w.Duration
			if w.state == copied {
				last.Size = w.copySize
			}
			if w.Short > worthTelling {
				quieter = append(quieter, Quieter{t.Path, w.Integrated, w.Short})
			}
		case r.early[t.Path].airs && r.early[t.Path].of(*t):
			fit = append(fit, *t)
		case ok && w.state == refused:
			out = append(out, Refusal{t.Path, w.reason, w.at})
		}
	}
	return fit, out, quieter
}
