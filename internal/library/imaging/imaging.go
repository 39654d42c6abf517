// Package imaging makes the station's announcements of itself between songs:
// sweepers over music, drops over a whoosh, station IDs with a signature, and
// stingers; each mastered, tagged Break and put into its deck whole.
//
// All random choices come from one seed, so that an order can be repeated. The caller
// supplies voice and mastering. The package removes nothing from a deck: Old lists the
// files that a newer set may replace.
package imaging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/speech"
)

// Voice speaks.
type Voice interface {
	// Say speaks one text.
	Say(ctx context.Context, text string) (speech.Clip, error)
}

// Song is music that may be cut.
type Song struct {
	Path          string // to be read
	Title, Artist string
	Duration      time.Duration // 0 when unknown
}

// Options make a Maker.
type Options struct {
	Dir     string         // the media folder; assets go into its sweepers and sfx
	Voice   Voice          // required
	Master  mastering.Desk // required
	Station string         // as it is spoken, with its tashkeel; أَثِيرْ when empty
	// Songs lists the songs that may be cut; nil: none.
	Songs   func(ctx context.Context) ([]Song, error)
	Phrases Phrases // instead of our own, kind by kind
	Workers int     // assets made at a time; one for each core when 0
	Now     func() time.Time
	Log     *slog.Logger
}

// stationName is the station's name, as it is spoken.
const stationName = "أَثِيرْ"

// ErrUnspoken says that the voice could speak no text of an order. Stingers of the same
// order are still made.
var ErrUnspoken = errors.New("no imaging text could be spoken")

// Maker makes imaging, one order at a time. It is safe for concurrent use.
type Maker struct {
	o    Options
	turn chan struct{} // held while an order is made
}

// New makes a Maker.
func New(o Options) (*Maker, error) {
	if o.Voice == nil || o.Master == nil || o.Dir == "" {
		return nil, errors.New("imaging: needs a folder, a voice and a master")
	}
	if o.Station == "" {
		o.Station = stationName
	}
	o.Phrases = o.Phrases.or(defaultPhrases())
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Maker{o: o, turn: make(chan struct{}, 1)}, nil
}

// Asset is a file that was made.
type Asset struct {
	Path     string // relative to the media folder
	Kind     Kind
	Design   string // INTRO or VOX of a sweeper; a stinger's own
	Text     string // spoken
	Voice    string // who spoke it
	Seed     uint32 // of its own chance
	Duration time.Duration
	LUFS     float64
	DBTP     float64
	Song     *Cut          // the song its bed was cut from; nil if none was
	BeatAt   time.Duration // the beat the voice lands on, in the file; 0 where there is none
	BeatBy   BeatSource    // how that beat was found
	Ducked   float64       // dB the bed lies lower under the voice than by itself
	Tempo    float64       // how much faster the voice is than it was spoken; 1 or a little more
}

// Failure is an asset that could not be made.
type Failure struct {
	Kind   Kind
	Design string
	Seed   uint32
	Err    error
}

// Result is the outcome of an order.
type Result struct {
	Made   []Asset // in the order's order
	Failed []Failure
}

// Progress is how far an order is.
type Progress struct {
	Done, Of int
	Asset    *Asset   // the one just made
	Failed   *Failure // or the one that could not be
}

// Make makes the assets of an order. An asset that cannot be made is among the failed,
// and the others are still made. The error says that no asset with a voice was made
// (ErrUnspoken), that none at all was, or that ctx ended; the assets made until then
// are in the result and in their decks. progress may be nil; it is called by one
// goroutine at a time and must not wait.
func (m *Maker) Make(ctx context.Context, o Order, progress func(Progress)) (Result, error) {
	if err := o.check(); err != nil {
		return Result{}, fmt.Errorf("make imaging: %w", err)
	}
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return Result{}, fmt.Errorf("make imaging: %w", context.Cause(ctx))
	}
	r, err := m.make(ctx, o, progress)
	if err != nil {
		return r, fmt.Errorf("make imaging: %w", err)
	}
	return r, nil
}

// outcome is the result of one item.
type outcome struct {
	nth   int
	asset Asset
	err   error
}

func (m *Maker) make(ctx context.Context, o Order, progress func(Progress)) (Result, error) {
	items := plan(o, m.o.Phrases)
	s, err := m.open(ctx, o)
	if err != nil {
		return Result{}, err
	}
	defer s.close()

	outcomes := make(chan outcome)
	var work errgroup.Group
	work.SetLimit(m.o.Workers)
	go func() {
		for i, it := range items {
			work.Go(func() error {
				a, err := s.asset(ctx, it)
				outcomes <- outcome{i, a, err}
				return nil
			})
		}
		_ = work.Wait()
		close(outcomes)
	}()
	all := make([]outcome, len(items))
	done := 0
	for out := range outcomes {
		all[out.nth] = out
		done++
		if progress != nil && ctx.Err() == nil {
			progress(tell(done, items, out))
		}
	}
	return m.judge(ctx, items, all)
}

func tell(done int, items []item, out outcome) Progress {
	p := Progress{Done: done, Of: len(items)}
	if out.err == nil {
		p.Asset = &out.asset
	} else {
		p.Failed = failure(items[out.nth], out.err)
	}
	return p
}

func failure(it item, err error) *Failure {
	return &Failure{Kind: it.kind, Design: it.designName(), Seed: it.seed, Err: err}
}

// judge sorts the outcomes and says whether the order as a whole has failed.
func (m *Maker) judge(ctx context.Context, items []item, all []outcome) (Result, error) {
	var r Result
	voiced, spoken := 0, 0
	var unspoken, first error
	for i, out := range all {
		hasVoice := items[i].kind != Stinger
		if hasVoice {
			voiced++
		}
		switch {
		case out.err == nil:
			r.Made = append(r.Made, out.asset)
			if hasVoice {
				spoken++
			}
		case ctx.Err() != nil: // cut short, not failed
		default:
			r.Failed = append(r.Failed, *failure(items[i], out.err))
			m.o.Log.Warn("imaging item not made", "kind", items[i].kind, "err", out.err)
			if first == nil {
				first = out.err
			}
			var e *voiceError
			if errors.As(out.err, &e) {
				unspoken = e
			} else if hasVoice {
				spoken++ // it failed for another reason
			}
		}
	}
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case voiced > 0 && spoken == 0 && unspoken != nil:
		return r, fmt.Errorf("%w: %w", ErrUnspoken, unspoken)
	case len(r.Made) == 0:
		return r, first
	}
	m.o.Log.Info("imaging made", "files", len(r.Made), "failed", len(r.Failed))
	return r, nil
}
