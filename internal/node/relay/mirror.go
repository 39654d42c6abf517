package relay

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/retry"
)

// Mirror serves listeners on an edge what the station's relay serves: it fetches each
// segment once, however many listen, and has sessions of its own. It needs the relay and
// nothing else of the station.
//
// Its playlist is the relay's: the same numbers, names, times and discontinuities. A
// listener whose edge dies goes on at another, or at the relay's address with a new session.
// Where the relay is away the playlist stands still; what is missed meanwhile is left out,
// as it is at the relay.
//
// Of several relays it follows the one that has the air: see follow.go.
type Mirror struct {
	*output
	token  func() string
	http   *http.Client
	relays []*source
	waits  waits
	file   string       // of what is kept; empty: nothing
	news   atomic.Int64 // when the last segment came, Unix ns; 0: none has

	mu       sync.Mutex
	followed *source // nil: none yet
	fence    uint64  // the highest that was seen
	joining  bool    // nothing of followed was shown yet, and something of another was
	from     int     // the first number of followed that was shown
	eras     int     // added to the discontinuity sequence numbers of followed
	leave    context.CancelFunc
	keys     map[string]string // by host, as kept: by which edges sign
}

// MirrorOptions configure a Mirror.
type MirrorOptions struct {
	Relays []string      // host:port of the station's relays
	Token  func() string // of this edge: see Options.Edge; asked for at each request
	// Kept is a file for what must outlive this process where there are several relays; empty:
	// nothing is kept.
	Kept string
	// Uncounted is Options.Uncounted.
	Uncounted bool
	// SessionBurst is Options.SessionBurst.
	SessionBurst int
	// Who is Options.Who.
	Who func(*http.Request) census.Who
	Log *slog.Logger
}

const (
	// pullEvery is between two looks at the relay's playlist: how much later than at the
	// relay a segment is here, at most, beside its own way.
	pullEvery   = 500 * time.Millisecond
	mostList    = 256 << 10
	mostSegment = 8 << 20
	mostListed  = 64 // segments
	// staleAfter is how long nothing may have come for listening to begin.
	staleAfter = 26 * time.Second
)

// waits bound one fetch.
type waits struct{ list, segment time.Duration }

// usualWaits: a segment of 10 s comes over a line of 150 kB/s in 4 s.
func usualWaits() waits { return waits{list: 2 * time.Second, segment: 10 * time.Second} }

// NewMirror makes a Mirror. It fetches nothing until Pull or Run.
func NewMirror(o MirrorOptions) *Mirror {
	opts := Options{Log: o.Log, Uncounted: o.Uncounted, SessionBurst: o.SessionBurst, Who: o.Who}.withDefaults()
	secret := make([]byte, sha256.Size) // nobody's, until the relay says which
	_, _ = rand.Read(secret)            // never fails (crypto/rand)
	m := &Mirror{
		token: o.Token, waits: usualWaits(), file: o.Kept, keys: map[string]string{}, leave: func() {},
		http: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, DisableCompression: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	for _, host := range o.Relays {
		m.relays = append(m.relays, &source{host: host, origin: (&url.URL{Scheme: "http", Host: host, Path: "/" + MainPath + "/"}).String()})
	}
	w := newWindow(opts.Renditions, opts.SegmentDuration, opts.SegmentCount, 0, time.Now())
	w.sequence = 0 // the relay numbers
	m.output = newOutput(opts, w, secret, time.Now())
	m.sessions.anywhere = true
	m.fresh = func() bool {
		at := m.news.Load()
		return at != 0 && time.Since(time.Unix(0, at)) < staleAfter
	}
	m.recall()
	return m
}

// Handler serves what the relay's address does, below the same path.
func (m *Mirror) Handler() http.Handler { return m.hlsHandler() }

// Listening counts who listens here, and of what kinds they are.
func (m *Mirror) Listening() (int, census.Crowd) {
	ids, kinds := m.sessions.listening(time.Now())
	return len(ids), kinds.Crowd()
}

// Fetched counts the bytes of playlists and segments that came from the relay.
func (m *Mirror) Fetched() uint64 { return m.count.bytesReceived.Load() }

// Sent counts the bytes of playlists and segments that listeners were sent.
func (m *Mirror) Sent() uint64 { return m.count.bytesSent.Load() }

// Run follows the relay until ctx ends.
func (m *Mirror) Run(ctx context.Context) error {
	defer m.http.CloseIdleConnections()
	var all sync.WaitGroup
	for _, s := range m.relays {
		all.Go(func() {
			for retry.Pause(ctx, pullEvery) == nil {
				m.ask(ctx, s)
				m.tell(ctx, s, m.bring(ctx, s))
			}
		})
	}
	all.Wait()
	return nil
}

// tell logs a problem with a relay once, and its end. Behind a relay that was away there may be
// one of another version, which stays.
func (m *Mirror) tell(ctx context.Context, s *source, err error) {
	problem, end := "cannot fetch HLS from the relay: listeners hear what is here", "HLS comes from the relay again"
	if !m.leads(s) {
		problem, end = "a relay cannot take over from the one that is followed", "a relay can take over again"
	}
	switch {
	case ctx.Err() != nil:
	case err != nil && (s.trouble == "" || errors.Is(err, errVersion) && s.trouble != err.Error()):
		s.trouble = err.Error()
		m.log.Warn(problem, "relay", s.host, "err", err)
	case err == nil && s.trouble != "":
		s.trouble = ""
		m.log.Info(end, "relay", s.host)
	}
}

// Pull brings the playlist up to date, once.
func (m *Mirror) Pull(ctx context.Context) error {
	var all sync.WaitGroup
	for _, s := range m.relays {
		all.Go(func() { m.ask(ctx, s) })
	}
	all.Wait()
	var wrong []error
	for _, s := range m.relays {
		if err := m.bring(ctx, s); m.leads(s) {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}

// bring fetches what is new on the list of a relay, if it is the followed one, and shows it.
func (m *Mirror) bring(ctx context.Context, s *source) error {
	s.pulling.Lock()
	defer s.pulling.Unlock()
	m.mu.Lock()
	if m.followed != s {
		defer m.mu.Unlock()
		return m.unfit(s)
	}
	if s.err != nil || !m.mayPull(s) {
		defer m.mu.Unlock()
		return cmp.Or(s.err, errNoAir)
	}
	list, err := m.expected(s)
	in := s.in
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	m.leave = cancel
	m.mu.Unlock()
	if err != nil {
		return err
	}
	got, fetched, err := m.complete(within, s, in, list)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.followed != s {
		return nil // the rest is another's
	}
	if len(got) > 0 && fetched && m.joins(got, s.target) {
		m.news.Store(time.Now().UnixNano())
		m.window.show(in, s.target, got, time.Now())
	}
	return err
}

// complete fetches the audio of those segments that are not here yet. It returns the newest
// that follow one another, all with their audio.
func (m *Mirror) complete(ctx context.Context, from *source, in renditions, list []*segment) (got []*segment, fetched bool, err error) {
	for _, s := range list {
		if here := m.window.segment(s.sequence); here != nil && len(here.data) >= len(in) {
			got = append(got, here)
			continue
		}
		data, problem := m.sound(ctx, from, in, s.sequence)
		switch {
		case errors.Is(problem, errGone):
			got, err = nil, problem // those before it lead nowhere
			continue
		case problem != nil:
			return got, fetched, problem
		}
		s.data, fetched = data, true
		got = append(got, s)
	}
	return got, fetched, err
}

// sound fetches a segment in each rendition.
func (m *Mirror) sound(ctx context.Context, from *source, in renditions, number int) (out [][]byte, err error) {
	for i := range in {
		data, _, err := m.fetch(ctx, from, in.segment(number, i), m.waits.segment, mostSegment)
		if err != nil {
			return nil, err
		}
		out = append(out, data)
	}
	return out, nil
}

// errGone says that the relay has no such file.
var errGone = errors.New("it is not there")

// fetch gets one file of a relay. The header is there where the relay answered as one.
func (m *Mirror) fetch(ctx context.Context, from *source, name string, within time.Duration, most int64) ([]byte, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from.origin+name, nil)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set(client.EdgeHeader, m.token())
	resp, err := m.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil, nil, fmt.Errorf("%s: %w", name, errGone)
	case http.StatusUnauthorized:
		return nil, nil, fmt.Errorf("the relay %s takes this edge for a listener: bus.credential or sync_token must be the station's, and its name not in bus.refused there", req.URL.Host)
	case http.StatusServiceUnavailable:
		return nil, resp.Header, fmt.Errorf("%s: the relay %s answered %s", name, req.URL.Host, resp.Status)
	default:
		return nil, nil, fmt.Errorf("%s: the relay %s answered %s", name, req.URL.Host, resp.Status)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	case int64(len(data)) > most:
		return nil, nil, fmt.Errorf("%s: more than %d bytes", name, most)
	}
	m.count.bytesReceived.Add(uint64(len(data)))
	return data, resp.Header, nil
}
