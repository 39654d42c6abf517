// Package record keeps what was live as MP3 files on the broadcast node: one file a
// broadcast, playable while it grows and after a kill of any process or a power cut, to
// the last seconds before.
//
// It never holds up or hurts its caller: audio is queued for two seconds at most, and a
// disk that is full or an encoder that dies costs the recording some of its audio, never
// the broadcast. It mixes, masters and decides nothing: what is recorded, and from when to
// when, is the caller's.
package record

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

const (
	bytesPerSecond = live.Rate * live.Channels * 2 // of PCM
	// mostQueued is the audio that may wait for the encoder.
	mostQueued = 2 * bytesPerSecond
	// joinWithin is how long after an interruption the same stream goes on in the same file.
	joinWithin = 90 * time.Second
)

// Options of a Recorder. Dir, Log and Now are required.
type Options struct {
	Dir string // the recordings' own; made when it is missing
	Log *slog.Logger
	// MaxBytes is what all recordings may take together, MaxAge how long one is kept after
	// its end; 0: no bound. The oldest go first, never the one under way.
	MaxBytes int64
	MaxAge   time.Duration
	// ReserveBytes of the disk are left to others.
	ReserveBytes int64
	Now          func() time.Time
}

// Meta says what is recorded.
type Meta struct {
	Stream  string // the stream's id
	Title   string
	Creator string
	Mode    live.Mode
}

// Recording is one file, as its sidecar has it. Times are epoch milliseconds.
type Recording struct {
	Name      string    `json:"name"` // LIVE_<yyyymmdd-hhmmss>_<slug>.mp3
	Title     string    `json:"title"`
	Presenter string    `json:"presenter"`
	StreamID  string    `json:"streamId"`
	Mode      live.Mode `json:"mode"`
	Began     int64     `json:"began"`
	Ended     int64     `json:"ended"` // 0: under way
	// DurationMS is how long the file plays.
	DurationMS int64 `json:"durationMs"`
	Bytes      int64 `json:"bytes"`
	// Parts is how often recording began: again after each interruption. LostMS is the
	// audio that came and is not in the file.
	Parts  int   `json:"parts"`
	LostMS int64 `json:"lostMs"`
	// Complete: it was ended by order, in one part, and nothing is missing.
	Complete bool `json:"complete"`
	// Interrupted: the recorder ended, not the broadcast. The same stream goes on in the
	// same file if it comes within a minute and a half.
	Interrupted bool `json:"interrupted,omitempty"`
	// Problem says why it is not complete, in words; Why how the broadcast ended.
	Problem string `json:"problem,omitempty"`
	Why     string `json:"why,omitempty"`
	// Listeners is how many listened on average, once somebody has told; MostListeners how
	// many at most.
	Listeners     *float64 `json:"listeners,omitempty"`
	MostListeners int      `json:"mostListeners,omitempty"`
	// Titles is what the source said that it played, after what it said as it began.
	Titles []Title `json:"titles,omitempty"`
}

// Title is what the source said of what it played from a place in the file on.
type Title struct {
	AtMS    int64  `json:"atMs"`
	Title   string `json:"title"`
	Creator string `json:"creator"`
}

// entry is a recording and what is not for others.
type entry struct {
	Recording
	changes, saved int // the sidecar is behind while these differ
}

// item is something that happened to the bus, in order.
type item struct {
	begin *Meta
	title *Title // without its place
	name  string // with begin
	pcm   []byte
	lost  int // bytes that did not fit just before
	end   bool
	why   string
	at    time.Time
}

// Recorder keeps the recordings of a folder. Its methods may be called from any goroutine.
type Recorder struct {
	opt   Options
	stall time.Duration // an encoder that takes nothing for so long has hung

	// disk is held while files are made, replaced or deleted, and taken before mu, under
	// which nothing waits: Write is called by what must not.
	disk sync.Mutex

	mu      sync.Mutex
	all     map[string]*entry
	current string // name of the recording under way, as callers see it
	queue   []item
	queued  int // bytes of PCM
	lost    int // bytes that did not fit since the last item
	wake    chan struct{}
	over    bool // Run has ended
	encoder int  // process id, for tests
}

// Open reads the folder: what a crash left is cut to whole frames, and what has lost its
// sidecar gets one by what the file says.
func Open(opt Options) (*Recorder, error) {
	if err := os.MkdirAll(opt.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("make folder of recordings: %w", err)
	}
	r := &Recorder{opt: opt, stall: 10 * time.Second, all: map[string]*entry{}, wake: make(chan struct{}, 1)}
	if err := r.recover(); err != nil {
		return nil, fmt.Errorf("read recordings: %w", err)
	}
	return r, nil
}

// Begin starts a recording; one that is under way ends. It does not wait.
func (r *Recorder) Begin(meta Meta) {
	now := r.opt.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	if r.current != "" {
		r.push(item{end: true, why: "another broadcast began", at: now})
	}
	meta.Title, meta.Creator = clean(meta.Title, mostTitle), clean(meta.Creator, mostCreator)
	meta.Stream = clean(meta.Stream, mostStream)
	if meta.Mode == "" {
		meta.Mode = live.Replace
	}
	e := r.interrupted(meta, now)
	if e == nil {
		e = &entry{Recording: Recording{
			Name: r.newName(now, meta.Title), Title: meta.Title, Presenter: meta.Creator, StreamID: meta.Stream,
			Mode: meta.Mode, Began: now.UnixMilli(),
		}}
		r.all[e.Name] = e
	}
	e.Ended, e.Interrupted, e.Complete, e.Why = 0, false, false, ""
	r.current = e.Name
	r.push(item{begin: &meta, name: e.Name, at: now})
}

// interrupted is the recording that a stream goes on in; nil: none.
func (r *Recorder) interrupted(meta Meta, now time.Time) *entry {
	for _, e := range r.all {
		away := now.Sub(time.UnixMilli(e.Ended))
		if e.Interrupted && e.StreamID == meta.Stream && e.Mode == meta.Mode && away.Abs() < joinWithin {
			return e
		}
	}
	return nil
}

// Write takes PCM of the bus's format (live.Rate, s16le, stereo), and copies it. It does
// not wait: what does not fit is counted, and missing in the recording. Without a recording
// under way it does nothing.
func (r *Recorder) Write(pcm []byte) {
	pcm = pcm[:len(pcm)-len(pcm)%4]
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.current == "" || r.over || len(pcm) == 0:
	case r.queued+len(pcm) > mostQueued:
		r.lost += len(pcm) // logged where a log that stands still holds nobody up
	default:
		r.queued += len(pcm)
		r.push(item{pcm: slices.Clone(pcm)})
	}
}

// Titled notes what the source says of what follows. It does not wait.
func (r *Recorder) Titled(title, creator string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if title = clean(title, mostSaid); r.current != "" && !r.over && title != "" {
		r.push(item{title: &Title{Title: title, Creator: clean(creator, mostSaid)}})
	}
}

// End ends the recording under way, with words why. It does not wait: see Recording.Ended.
func (r *Recorder) End(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != "" && !r.over {
		r.push(item{end: true, why: clean(why, mostWhy), at: r.opt.Now()})
		r.current = ""
	}
}

func (r *Recorder) push(it item) {
	it.lost, r.lost = r.lost, 0
	r.queue = append(r.queue, it)
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// List returns all recordings, the newest first.
func (r *Recorder) List() []Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Recording, 0, len(r.all))
	for _, e := range r.all {
		out = append(out, e.Recording)
	}
	slices.SortFunc(out, newestFirst)
	return out
}

func newestFirst(a, b Recording) int {
	if a.Began != b.Began {
		return int(min(max(b.Began-a.Began, -1), 1))
	}
	return -compareNames(a.Name, b.Name)
}

// Current is the recording under way, for the desk's report; nil: none is.
func (r *Recorder) Current() *live.RecordingReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.all[r.current]
	if !ok {
		return nil
	}
	return &live.RecordingReport{Name: e.Name, Since: e.Began, Bytes: e.Bytes, Problem: e.Problem}
}

// Open opens a recording for reading; the caller closes it. One under way is read as far
// as it is. The error is of kind station.ErrNotFound.
func (r *Recorder) Open(name string) (io.ReadSeekCloser, Recording, error) {
	rec, err := r.find(name)
	if err != nil {
		return nil, Recording{}, err
	}
	f, err := os.OpenFile(r.path(name), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, Recording{}, fmt.Errorf("open recording %q: %w: %w", name, station.ErrNotFound, err)
	}
	return f, rec, nil
}

// Delete removes a recording for good. The error is of kind station.ErrNotFound, or
// station.ErrConflict for the one under way.
func (r *Recorder) Delete(name string) error {
	return r.remove(name)
}

// SetListeners tells how many listened to a recording's broadcast, on average and at most.
func (r *Recorder) SetListeners(name string, average float64, most int) error {
	if !(average >= 0 && average < 1e9) || most < 0 {
		return fmt.Errorf("%w: listeners must be 0 or more", station.ErrInvalid)
	}
	if _, err := r.find(name); err != nil {
		return err
	}
	r.change(name, func(rec *Recording) { rec.Listeners, rec.MostListeners = &average, most })
	r.save(name)
	return nil
}

// Titles returns what the source of a recording said that it played. The error is of kind
// station.ErrNotFound.
func (r *Recorder) Titles(name string) ([]Title, error) {
	rec, err := r.find(name)
	return rec.Titles, err
}

// change edits a recording that is still there.
func (r *Recorder) change(name string, edit func(*Recording)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.all[name]; ok {
		edit(&e.Recording)
		e.changes++
	}
}

// find looks a name up among the recordings: no other name reaches the disk.
func (r *Recorder) find(name string) (Recording, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.all[name]
	if !ok {
		return Recording{}, fmt.Errorf("recording %.80q: %w", name, station.ErrNotFound)
	}
	return e.Recording, nil
}

func (r *Recorder) path(name string) string { return filepath.Join(r.opt.Dir, name) }
