package relay

import (
	"container/list"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/census"
)

// The parts of the relay as they are left to the next program.

// legacyPath is a path between two packets of its publisher.
type legacyPath struct {
	Form     form
	Timeline legacyTimeline
	Run      *legacyRun // nil: none has begun
	PTS      time.Duration
	Pending  bool
	LastData time.Time
}

// legacyRun is an unbroken run of frames, with those of the open segment: so it gets as long as
// any other.
type legacyRun struct {
	Sound     sound
	PTS, From int64 // of the next frame, and where the open segment begins, in samples
	At        time.Time
	Open      []set
}

type legacyTimeline struct {
	Rate                      int
	Running, Fresh, Trim      bool
	Start                     time.Time
	Samples                   int64
	NextPTS                   time.Duration
	Arrived, End              time.Time
	Held                      []set
	HeldSince, Best, Improved time.Time
	Least                     time.Duration
	Slewed                    time.Time
}

func (t *timeline) estate() legacyTimeline {
	return legacyTimeline{
		Rate: t.rate, Running: t.running, Fresh: t.fresh, Trim: t.trim,
		Start: t.start, Samples: t.samples, NextPTS: t.nextPTS, Arrived: t.arrived, End: t.end,
		Held: t.held, HeldSince: t.heldSince, Best: t.best, Improved: t.improved,
		Least: t.least, Slewed: t.slewed,
	}
}

func (l legacyTimeline) revive() timeline {
	return timeline{
		rate: l.Rate, running: l.Running, fresh: l.Fresh, trim: l.Trim,
		start: l.Start, samples: l.Samples, nextPTS: l.NextPTS, arrived: l.Arrived, end: l.End,
		held: l.Held, heldSince: l.HeldSince, best: l.Best, improved: l.Improved,
		least: l.Least, slewed: l.Slewed,
	}
}

func (a *path) estate() legacyPath {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := legacyPath{Form: a.form, Timeline: a.timeline.estate(), PTS: a.pts, Pending: a.pending, LastData: a.lastData}
	if s := a.segmenter; s != nil {
		out.Run = &legacyRun{Sound: s.sound, PTS: s.pts, From: s.cutPTS, At: s.cutAt, Open: s.open}
	}
	return out
}

// resume goes on where another program stopped; p is its publisher, nil where there is
// none.
func (a *path) resume(in legacyPath, p *publisher) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var run *segmenter
	if l := in.Run; l != nil {
		run = &segmenter{sound: l.Sound, target: a.target, pts: l.PTS, cutPTS: l.From, cutAt: l.At, open: l.Open}
	}
	a.publisher, a.form, a.timeline, a.segmenter = p, in.Form, in.Timeline.revive(), run
	a.pts, a.pending, a.lastData = in.PTS, in.Pending, in.LastData
}

type legacyWindow struct {
	Renditions      renditions
	Target          time.Duration
	Listed, Retired []legacySegment
	Sequence, Era   int
	Total, Breaks   uint64
	Longest         time.Duration
	Broken          bool
}

type legacySegment struct {
	Data          [][]byte // by rendition
	Sound         sound
	At            time.Time
	Duration      time.Duration
	Sequence, Era int
	Discontinuity bool
	Until         time.Time
}

func (w *window) estate() legacyWindow {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := legacyWindow{Renditions: w.renditions, Target: w.target, Sequence: w.sequence, Era: w.era, Total: w.total, Breaks: w.breaks, Longest: w.longest, Broken: w.broken}
	for _, s := range w.listed {
		out.Listed = append(out.Listed, s.estate())
	}
	for _, s := range w.retired {
		out.Retired = append(out.Retired, s.estate())
	}
	return out
}

func (s *segment) estate() legacySegment {
	return legacySegment{
		Data: s.data, Sound: s.sound, At: s.at, Duration: s.duration, Sequence: s.sequence, Era: s.era, Discontinuity: s.discontinuity, Until: s.until,
	}
}

// resume goes on with the window of another program, whose segments have the same target.
func (w *window) resume(in legacyWindow) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sequence, w.era, w.total, w.breaks, w.longest, w.broken = in.Sequence, in.Era, in.Total, in.Breaks, in.Longest, in.Broken
	w.listed, w.retired = w.revive(in.Listed), w.revive(in.Retired)
	w.moved()
}

// above has the next segment's number be no less than sequence.
func (w *window) above(sequence int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sequence = max(w.sequence, sequence)
}

func (w *window) revive(all []legacySegment) (out []*segment) {
	for _, l := range all {
		s := &segment{
			cut:      cut{data: l.Data, sound: l.Sound, at: l.At, duration: l.Duration},
			sequence: l.Sequence, era: l.Era, discontinuity: l.Discontinuity, until: l.Until,
		}
		w.hold(s)
		out = append(out, s)
	}
	return out
}

type legacySessions struct {
	Started              time.Time
	Begun                uint64
	Newcomers, Listeners []legacySession // the last seen in front
}

type legacySession struct {
	Token           []byte
	Seen            time.Time
	Device, Country string // empty: the program before did not tell
}

func (t *sessions) estate() legacySessions {
	t.mu.Lock()
	defer t.mu.Unlock()
	return legacySessions{Started: t.started, Begun: t.begun, Newcomers: leaveSessions(t.newcomers), Listeners: leaveSessions(t.listeners)}
}

func leaveSessions(from *list.List) (out []legacySession) {
	for e := from.Front(); e != nil; e = e.Next() {
		s := e.Value.(*session)
		out = append(out, legacySession{Token: s.token[:], Seen: s.seen, Device: s.who.Device.String(), Country: s.who.Country.String()})
	}
	return out
}

// resume takes in the sessions of another program. Those that it ended stay ended: their
// tokens are from after its start.
func (t *sessions) resume(in legacySessions) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.started, t.begun = in.Started, in.Begun
	t.revive(t.newcomers, in.Newcomers, false)
	t.revive(t.listeners, in.Listeners, true)
}

func (t *sessions) revive(into *list.List, all []legacySession, heard bool) {
	for _, l := range all {
		if len(l.Token) != tokenSize || len(t.byID) >= t.limits.most {
			continue
		}
		s := &session{token: rawToken(l.Token), seen: l.Seen, heard: heard}
		s.id = s.token.id()
		s.who.Device, _ = census.DeviceNamed(l.Device)
		s.who.Country = census.CountryNamed(l.Country)
		t.byID[s.id] = into.PushBack(s)
	}
}

// all are the figures in the order in which they are left; new ones go to the end.
func (c *counters) all() []*atomic.Uint64 {
	return []*atomic.Uint64{
		&c.bytesReceived, &c.bytesSent, &c.playlists, &c.segments, &c.refused, &c.busy, &c.hurried,
		&c.rtmpAccepted, &c.rtmpRefused, &c.rtmpLimit,
	}
}

func (c *counters) estate() (out []uint64) {
	for _, n := range c.all() {
		out = append(out, n.Load())
	}
	return out
}

func (c *counters) resume(in []uint64) {
	for i, n := range c.all() {
		if i < len(in) {
			n.Store(in[i])
		}
	}
}
