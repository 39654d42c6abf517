package api_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/registry"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// The stream, the account, the session and the recording that the manual speaks of.
const (
	exampleStream    = "LIVE5f0c91aa"
	examplePublisher = "sara"
	exampleSession   = "s7Q2"
	exampleEncoder   = "rtmp/omar/12"
	exampleRecording = "20261124-200000-sara.mp3"
)

// onAir is the live half of a station in memory: it keeps what it is told.
type onAir struct {
	sync.Mutex
	streams    []api.LiveStream
	active     *api.LiveActive
	show       *live.Show
	wrapUpAt   int64
	sessions   []live.Session
	publishers []api.LivePublisher
	recordings []api.LiveRecording
	told       []string
	fail       error // of all that may fail
	phonesFail error
	looks      int
	deskAway   bool
	playing    []live.CartPlaying
	noCarts    bool // nothing live is on the air
	wall       api.LiveCarts
}

func newOnAir() *onAir {
	l := &onAir{sessions: []live.Session{{ID: exampleSession, Publisher: examplePublisher, Name: "سارة", Holds: true, PeakDBFS: -12}}}
	l.streams = []api.LiveStream{{Stream: live.Stream{ID: exampleStream, URL: "pipe:/run/live.pcm", Title: "سهرة", Creator: "سارة", Ingest: "pipe", AddedAt: 1}}}
	l.publishers = []api.LivePublisher{{ID: examplePublisher, Name: "سارة", Show: "سهرة", Secret: "hash"}}
	l.recordings = []api.LiveRecording{{Name: exampleRecording, Stream: exampleStream, Title: "سهرة", Creator: "سارة", DurationMS: 60_000, Bytes: 10}}
	return l
}

func (l *onAir) parts() *api.Live {
	return &api.Live{
		Takeover: liveTakeover{l}, Registry: liveRegistry{l}, Publishers: livePublishers{l}, Phones: livePhones{l},
		Recordings: liveRecordings{l}, Carts: l.wall, Door: liveDoor{l}, Listen: l.listen,
		Figures:   api.LiveFigures{Status: l.status, Phones: l.phones, Streams: func() (int, int) { return len(l.streams), 0 }},
		Entrances: api.LiveEntrances{WHIP: 8089, Source: 8007, RTMP: 19350},
	}
}

// note keeps what was told, and returns the failure that a test asks for.
func (l *onAir) note(format string, args ...any) error {
	l.told = append(l.told, fmt.Sprintf(format, args...))
	return l.fail
}

func (l *onAir) find(id string) (*api.LiveStream, error) {
	i := slices.IndexFunc(l.streams, func(s api.LiveStream) bool { return s.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("stream %q: %w", id, station.ErrNotFound)
	}
	return &l.streams[i], nil
}

type liveTakeover struct{ *onAir }

func (l liveTakeover) View() api.LiveView {
	l.Lock()
	defer l.Unlock()
	v := api.LiveView{Registry: slices.Clone(l.streams), Active: l.active, Show: l.show, WrapUpAt: l.wrapUpAt}
	v.Encoders = []live.Encoder{{Session: exampleEncoder, Stream: exampleStream, Protocol: live.RTMP, Publisher: "omar", Name: "عمر"}}
	if len(l.streams) > 0 {
		v.Next = l.streams[0].ID
	}
	return v
}

func (l liveTakeover) Look(context.Context) (live.Report, bool) {
	l.Lock()
	defer l.Unlock()
	l.looks++ // each look hears another level
	return live.Report{Carts: live.CartReport{Open: !l.noCarts, Playing: slices.Clone(l.playing)}, Sources: []live.SourceReport{{ID: exampleStream, State: live.Ready, PeakDBFS: -15.2 + float64(l.looks), LUFS: -20}}}, !l.deskAway
}

func (l liveTakeover) Start(_ context.Context, id string, mode live.Mode) (live.Stream, error) {
	l.Lock()
	defer l.Unlock()
	if err := l.note("start %q %s", id, mode); err != nil {
		return live.Stream{}, err
	}
	if id == "" && len(l.streams) == 0 {
		return live.Stream{}, nil
	} else if id == "" {
		id = l.streams[0].ID
	}
	s, err := l.find(id)
	if err != nil {
		return live.Stream{}, err
	}
	l.active = &api.LiveActive{Stream: s.Stream, Mode: mode, Since: 1}
	return s.Stream, nil
}

func (l liveTakeover) Stop(context.Context) (bool, error) {
	l.Lock()
	defer l.Unlock()
	was := l.active != nil
	l.active = nil
	return was, l.note("stop")
}

func (l liveTakeover) Hand(_ context.Context, id string) (live.Stream, error) {
	l.Lock()
	defer l.Unlock()
	s, err := l.find(id)
	switch {
	case err != nil:
		return live.Stream{}, err
	case l.active == nil:
		return live.Stream{}, fmt.Errorf("nothing is live: start %s instead: %w", id, station.ErrConflict)
	}
	l.active = &api.LiveActive{Stream: s.Stream, Mode: l.active.Mode, Since: 2}
	return s.Stream, l.note("hand %q", id)
}

func (l liveTakeover) WrapUp(_ context.Context, in time.Duration) error {
	l.Lock()
	defer l.Unlock()
	if l.wrapUpAt = 0; in > 0 {
		l.wrapUpAt = 1_000_000 + in.Milliseconds()
	}
	return l.note("wrap up in %s", in)
}

func (l liveTakeover) Show(_ context.Context, title string, until time.Time, bed string) error {
	l.Lock()
	defer l.Unlock()
	l.show = &live.Show{Title: title, Until: until.UnixMilli(), Bed: bed}
	return l.note("show %q %q", title, bed)
}

func (l liveTakeover) EndShow(context.Context) error {
	l.Lock()
	defer l.Unlock()
	l.show = nil
	return l.note("end show")
}

type liveRegistry struct{ *onAir }

func (l liveRegistry) Register(_ context.Context, f registry.Fields) (live.Stream, error) {
	l.Lock()
	defer l.Unlock()
	if err := l.note("register %s %q %q %d %q", f.URL, f.Title, f.Creator, f.Listeners, f.Ingest); err != nil {
		return live.Stream{}, err
	}
	s := live.Stream{ID: fmt.Sprintf("LIVE%08x", len(l.told)), URL: f.URL, Title: f.Title, Creator: f.Creator, Listeners: f.Listeners, Ingest: f.Ingest}
	l.streams = append(l.streams, api.LiveStream{Stream: s})
	return s, nil
}

func (l liveRegistry) Find(id string) (live.Stream, error) {
	l.Lock()
	defer l.Unlock()
	s, err := l.find(id)
	if err != nil {
		return live.Stream{}, err
	}
	return s.Stream, nil
}

func (l liveRegistry) Remove(_ context.Context, id string) error {
	l.Lock()
	defer l.Unlock()
	if _, err := l.find(id); err != nil {
		return err
	}
	l.streams = slices.DeleteFunc(l.streams, func(s api.LiveStream) bool { return s.ID == id && s.ID != exampleStream })
	return l.note("remove %q", id)
}

func (l liveRegistry) Vote(_ context.Context, id string, delta int) (live.Stream, error) {
	l.Lock()
	defer l.Unlock()
	s, err := l.find(id)
	if err != nil {
		return live.Stream{}, err
	}
	s.Votes += delta
	return s.Stream, l.note("vote %q %d", id, delta)
}

func (l liveRegistry) Block(_ context.Context, id string) error {
	return l.mark(id, &registry.Blacklisted{ByOrder: true})
}

func (l liveRegistry) Unblock(_ context.Context, id string) error { return l.mark(id, nil) }

func (l liveRegistry) mark(id string, mark *registry.Blacklisted) error {
	l.Lock()
	defer l.Unlock()
	s, err := l.find(id)
	if err != nil {
		return err
	}
	s.Blacklisted = mark
	return l.note("blacklist %q %v", id, mark != nil)
}

type livePhones struct{ *onAir }

func (l livePhones) Sessions(context.Context) ([]live.Session, error) {
	l.Lock()
	defer l.Unlock()
	return slices.Clone(l.sessions), l.phonesFail
}

func (l livePhones) Hold(_ context.Context, id string) error {
	return l.ofSession(id, "hold %q", id)
}

func (l liveTakeover) Kick(_ context.Context, id, why string) error {
	if id == exampleEncoder {
		l.Lock()
		defer l.Unlock()
		return l.note("kick %q %q", id, why)
	}
	return livePhones(l).ofSession(id, "kick %q %q", id, why)
}

func (l livePhones) ofSession(id, format string, args ...any) error {
	l.Lock()
	defer l.Unlock()
	if !slices.ContainsFunc(l.sessions, func(s live.Session) bool { return s.ID == id }) {
		return fmt.Errorf("session %q: %w", id, station.ErrNotFound)
	}
	return l.note(format, args...)
}

// listen sends one second of a source.
func (l *onAir) listen(_ context.Context, id string) (*http.Response, error) {
	l.Lock()
	defer l.Unlock()
	if _, err := l.find(id); err != nil {
		return nil, err
	}
	body := binary.LittleEndian.AppendUint32([]byte("RIFF"), 0xffffffff)
	body = append(body, make([]byte, live.FrameBytes*50)...)
	return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(body))}, l.note("listen %q", id)
}

type liveRecordings struct{ *onAir }

func (l liveRecordings) List(context.Context) ([]api.LiveRecording, error) {
	l.Lock()
	defer l.Unlock()
	return l.recordings, l.fail
}

func (l liveRecordings) known(name string) error {
	if !slices.ContainsFunc(l.recordings, func(r api.LiveRecording) bool { return r.Name == name }) {
		return fmt.Errorf("recording %q: %w", name, station.ErrNotFound)
	}
	return nil
}

func (l liveRecordings) Fetch(ctx context.Context, name string, h http.Header) (*http.Response, error) {
	l.Lock()
	defer l.Unlock()
	if err := l.known(name); err != nil {
		return nil, err
	}
	if l.fail != nil {
		return nil, l.fail
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	if err != nil {
		return nil, err
	}
	req.Header = h
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "audio/mpeg")
	w.Header().Set("ETag", `"1"`)
	w.Header().Set("X-Node", "/home/athir/recordings")
	http.ServeContent(w, req, name, time.Unix(1_700_000_000, 0), bytes.NewReader([]byte("0123456789")))
	return w.Result(), nil
}

func (l liveRecordings) Delete(_ context.Context, name string) error {
	l.Lock()
	defer l.Unlock()
	if err := l.known(name); err != nil {
		return err
	}
	return l.note("delete %q", name)
}

func (l liveRecordings) Take(_ context.Context, name string, as station.Category, title, artist string) (string, error) {
	l.Lock()
	defer l.Unlock()
	if err := l.known(name); err != nil {
		return "", err
	}
	return string(as) + "/" + name, l.note("take %q %s %q %q", name, as, title, artist)
}

type livePublishers struct{ *onAir }

func (l livePublishers) List(context.Context) ([]api.LivePublisher, error) {
	l.Lock()
	defer l.Unlock()
	return slices.Clone(l.publishers), l.fail
}

// of changes an account, whose secret is shown whatever happens: that is the API's to hide.
func (l livePublishers) of(id string, change func(*api.LivePublisher)) (api.LivePublisher, error) {
	l.Lock()
	defer l.Unlock()
	i := slices.IndexFunc(l.publishers, func(p api.LivePublisher) bool { return p.ID == id })
	if i < 0 {
		return api.LivePublisher{}, fmt.Errorf("publisher %q: %w", id, station.ErrNotFound)
	}
	change(&l.publishers[i])
	return l.publishers[i], l.fail
}

func (l livePublishers) Add(_ context.Context, p api.LivePublisher) (api.LivePublisher, error) {
	l.Lock()
	defer l.Unlock()
	p.ID, p.Secret = fmt.Sprintf("p%d", len(l.publishers)), "shown-once"
	l.publishers = append(l.publishers, p)
	return p, l.fail
}

func (l livePublishers) Change(_ context.Context, p api.LivePublisher) (api.LivePublisher, error) {
	return l.of(p.ID, func(was *api.LivePublisher) { p.Secret, *was = was.Secret, p })
}

func (l livePublishers) Remove(_ context.Context, id string) error {
	_, err := l.of(id, func(*api.LivePublisher) {})
	return err
}

func (l livePublishers) Revoke(_ context.Context, id string) (api.LivePublisher, error) {
	return l.of(id, func(p *api.LivePublisher) { p.Revoked = true })
}

func (l livePublishers) NewSecret(_ context.Context, id string) (api.LivePublisher, error) {
	return l.of(id, func(p *api.LivePublisher) { p.Secret, p.Revoked = "another", false })
}

type liveDoor struct{ *onAir }

func (l liveDoor) Admit(_ context.Context, who live.Credentials) (live.Admission, error) {
	if who.User != examplePublisher {
		return live.Admission{Code: "unknown", Detail: "there is no such account"}, nil
	}
	return live.Admission{Allowed: true, Publisher: live.Presenter{ID: examplePublisher, Name: "سارة"}}, nil
}

func (l liveDoor) Arrived(_ context.Context, a live.Arrival) (string, error) {
	l.Lock()
	defer l.Unlock()
	return exampleStream, l.note("arrived %s", a.URL)
}

func (l liveDoor) Left(_ context.Context, d live.Leaving) error {
	l.Lock()
	defer l.Unlock()
	return l.note("left %s", d.ID)
}

func (l liveDoor) Roll(_ context.Context, r live.Roll) (live.RollAnswer, error) {
	l.Lock()
	defer l.Unlock()
	out := live.RollAnswer{Streams: map[string]string{}, Refused: map[string]string{}}
	for _, a := range r.Senders {
		out.Streams[a.Session] = exampleStream
	}
	return out, l.note("roll %s", r.Protocol)
}

func (l liveDoor) Facts(_ context.Context, publisher, _ string) (live.Facts, error) {
	if publisher != examplePublisher {
		return live.Facts{State: "off", Code: "unknown"}, nil
	}
	return live.Facts{Allowed: true, State: "waiting", Listeners: 7}, nil
}

func (l *onAir) status() takeover.Status {
	return takeover.Status{
		State: takeover.HandOver, Harbor: true, Recording: &live.RecordingReport{Problem: "the disk is full"},
		Sources:  []live.SourceReport{{State: live.OnAir}, {State: live.Ready}, {State: live.Ready}, {State: live.Gone}},
		Counters: live.Counters{Broadcasts: 3, Failovers: 2, FilledMS: 1500, DroppedMS: 40, TrimmedMS: 250, HarborBreaks: 1, Carts: 4},
	}
}

func (l *onAir) phones() takeover.PhoneFigures {
	return takeover.PhoneFigures{
		Known: true, Sessions: 2, Relayed: 1, Packets: 900, Lost: 11, Frames: 800, Concealed: 7, Heard: &live.Session{RTTMS: 240, JitterMS: 12},
		Relay: &live.RelayReport{Ousted: 6, Allocations: 1, BytesUp: 5, BytesDown: 6, Refused: 1, OverQuota: 2, Limited: 3, Forbidden: 4},
	}
}
