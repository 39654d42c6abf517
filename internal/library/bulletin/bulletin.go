// Package bulletin makes the spoken bulletin: the time, the weather, the first
// headlines and the way back to the music, each spoken for itself, joined,
// levelled and mastered into one file of the news deck.
//
// A missing part is left out and reported: a bulletin may lack its weather. Then the
// date and what comes up bring it to its length. If nothing
// was spoken, there is no file. The caller supplies voice and mastering.
package bulletin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/library/bulletin/arabic"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/speech"
)

// Voice speaks.
type Voice interface {
	// SayAll speaks texts that belong together, in one voice if it can, and
	// returns one result for each.
	SayAll(ctx context.Context, texts []string) []speech.Clip
}

// Forecaster knows the weather outside.
type Forecaster interface {
	Now(ctx context.Context) (arabic.Weather, error)
}

// Options make a Maker.
type Options struct {
	Dir       string         // the news deck's folder
	Headlines string         // file of one headline a line; none when empty
	Voice     Voice          // required
	Master    mastering.Desk // required
	Weather   Forecaster     // none when nil
	Zone      *time.Location // of the time that is told; Cairo when nil
	Station   string         // as it is spoken, with its tashkeel; أَثِيرْ when empty
	// ComingUp returns what the rotation has from a time on; it is not announced when
	// nil.
	ComingUp func(from time.Time) ComingUp
	Keep     Keep
	Log      *slog.Logger
	// Progress is told when a stage begins; it must not wait.
	Progress func(Stage)
}

// ErrUnspoken says that no segment could be spoken; there is no file.
var ErrUnspoken = errors.New("no segment was spoken")

// Maker makes bulletins, one at a time. It is safe for concurrent use.
type Maker struct {
	o    Options
	now  func() time.Time
	turn chan struct{} // held while one is made

	writing sync.Mutex // held while the headline file is replaced

	mu      sync.Mutex
	making  bool
	last    Result
	lastErr error
	tried   time.Time
	outside outside // as the weather was last told
}

// New makes a Maker.
func New(o Options) (*Maker, error) {
	if o.Voice == nil || o.Master == nil {
		return nil, errors.New("bulletin: needs a voice and a master")
	}
	if o.Zone == nil {
		cairo, err := time.LoadLocation(cairoZone)
		if err != nil {
			return nil, fmt.Errorf("bulletin: %w", err)
		}
		o.Zone = cairo
	}
	if o.Station == "" {
		o.Station = stationName
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(Stage) {}
	}
	return &Maker{o: o, now: time.Now, turn: make(chan struct{}, 1)}, nil
}

// Make makes a bulletin that tells the time at which it should be heard and puts it
// into the deck. Concurrent calls wait for one another.
func (m *Maker) Make(ctx context.Context, at time.Time) (Result, error) {
	return m.inTurn(ctx, func() (Result, error) {
		now := m.now()
		// The media folder is not made here: its disk may be unmounted, and a new
		// folder in its place would pass for the whole library.
		if err := os.Mkdir(m.o.Dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return Result{}, fmt.Errorf("make the news folder: %w", err)
		}
		sweep(m.o.Dir, now)
		path, at := freePath(m.o.Dir, at)
		r, err := m.make(ctx, m.next(at, path))
		if err != nil {
			return Result{}, err
		}
		m.tell("bulletin made", r)
		if r.Retired, err = retired(m.o.Dir, filepath.Base(r.Path), now, m.o.Keep); err != nil {
			m.o.Log.Warn("old bulletins not archived", "err", err) // the new one airs all the same
		}
		return r, nil
	})
}

// MakeFile makes a bulletin for the given time and writes it to path.
func (m *Maker) MakeFile(ctx context.Context, at time.Time, path string) (Result, error) {
	return m.inTurn(ctx, func() (Result, error) {
		r, err := m.make(ctx, m.next(at, path))
		if err == nil {
			m.tell("bulletin made", r)
		}
		return r, err
	})
}

func (m *Maker) inTurn(ctx context.Context, f func() (Result, error)) (Result, error) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return Result{}, fmt.Errorf("make bulletin: %w", context.Cause(ctx))
	}
	begin := m.now()
	m.mu.Lock()
	m.making = true
	m.mu.Unlock()

	r, err := f()
	r.Took = m.now().Sub(begin)
	if err != nil {
		err = fmt.Errorf("make bulletin: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.making, m.tried, m.lastErr = false, begin, err
	if err == nil {
		m.last = r
	}
	return r, err
}

// order is one bulletin to be made.
type order struct {
	at        time.Time // the time that it tells
	path      string
	headlines func() ([]string, error) // asked once, after the weather
	show      func(Stage)
}

// next is the order for a bulletin of the station: with the headlines of its file.
func (m *Maker) next(at time.Time, path string) order {
	return order{at, path, func() ([]string, error) { return ReadHeadlines(m.o.Headlines) }, m.o.Progress}
}

// make gathers, speaks, joins and masters, and puts the file in place whole.
func (m *Maker) make(ctx context.Context, o order) (Result, error) {
	temp, err := os.MkdirTemp(filepath.Dir(o.path), tempPrefix) // where the file will be, so that it moves whole
	if err != nil {
		return Result{}, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer os.RemoveAll(temp) //nolint:errcheck // the next run sweeps what is left
	o.show(Gathering)
	outside := m.look(ctx)
	script := m.write(o.at, outside, o.headlines)

	o.show(Speaking)
	spoken := append(script.Segments, script.Spares...) // in one go, so that one voice speaks all
	voices, err := m.speak(ctx, spoken)
	if err != nil {
		return Result{}, err
	}
	n := len(script.Segments)
	segments, voices := fill(spoken[:n], voices[:n], spoken[n:], voices[n:])
	o.show(Joining)
	joined, tempo, err := join(ctx, segments, voices)
	if err != nil {
		return Result{}, err
	}
	o.show(Mastering)
	made, err := m.master(ctx, joined, temp, o.path)
	if err != nil {
		return Result{}, err
	}
	o.show(Done)
	return Result{Path: o.path, At: o.at, Duration: joined.length(), Tempo: tempo, Mastered: made, Segments: segments}, nil
}

// tell logs what was made.
func (m *Maker) tell(what string, r Result) {
	attrs := []any{"file", filepath.Base(r.Path), "length", r.Duration.Round(time.Millisecond), "lufs", math.Round(100*r.Mastered.Integrated) / 100, "dbtp", math.Round(100*r.Mastered.TruePeak) / 100}
	if missing := r.Problems(); len(missing) > 0 { // a station without headlines is no fault
		attrs = append(attrs, "without", missing)
	}
	m.o.Log.Info(what, attrs...)
}

// speak has the segments spoken that have a text, and returns their sound.
func (m *Maker) speak(ctx context.Context, segments []Segment) ([]sound, error) {
	var texts []string
	var places []int
	for i, s := range segments {
		if s.Text != "" {
			texts, places = append(texts, s.Text), append(places, i)
		}
	}
	voices := make([]sound, len(segments))
	var failed []error
	spoken := m.o.Voice.SayAll(ctx, texts)
	if len(spoken) != len(texts) {
		return nil, fmt.Errorf("speak: %d results for %d texts", len(spoken), len(texts))
	}
	for n, clip := range spoken {
		s := &segments[places[n]]
		if clip.Err == nil {
			voices[places[n]], clip.Err = read(clip.WAV)
		}
		if clip.Err != nil {
			s.Problem = clip.Err.Error()
			failed = append(failed, clip.Err)
			continue
		}
		s.Voice = clip.Voice
	}
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("speak: %w", context.Cause(ctx))
	case len(failed) == len(texts):
		return nil, fmt.Errorf("%w: %w", ErrUnspoken, failed[0])
	}
	return voices, nil
}

// master writes the file beside its place and moves it there once it is on disk.
func (m *Maker) master(ctx context.Context, joined sound, temp, path string) (mastering.Outcome, error) {
	in, out := filepath.Join(temp, "joined.wav"), filepath.Join(temp, "mastered.mp3")
	if err := os.WriteFile(in, joined.stereoWAV(), 0o600); err != nil {
		return mastering.Outcome{}, fmt.Errorf("write the joined segments: %w", err)
	}
	rec, err := m.o.Master.Do(ctx, mastering.OwnJob(in, out), nil)
	if err != nil {
		return mastering.Outcome{}, fmt.Errorf("master the bulletin: %w", err)
	}
	if err := file.Settle(out, 0o644); err != nil {
		return mastering.Outcome{}, fmt.Errorf("write the bulletin: %w", err)
	}
	if err := os.Rename(out, path); err != nil {
		return mastering.Outcome{}, fmt.Errorf("move the bulletin into place: %w", err)
	}
	return rec.Outcome, nil
}

// freePath returns the first path from a time on that is not taken: one that tells the
// same time may be on air.
func freePath(dir string, at time.Time) (string, time.Time) {
	for {
		path := filepath.Join(dir, fileName(at))
		if _, err := os.Lstat(path); err != nil {
			return path, at
		}
		at = at.Add(time.Millisecond)
	}
}

// fileName holds the time that it tells in milliseconds, so that names sort.
func fileName(at time.Time) string {
	return filePrefix + strconv.FormatInt(at.UnixMilli(), 10) + fileSuffix
}
