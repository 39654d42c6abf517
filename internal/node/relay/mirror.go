package relay

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bluenviron/gohlslib/v2/pkg/playlist"

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
type Mirror struct {
	*output
	origin string
	token  func() string
	http   *http.Client

	pulling sync.Mutex
	key     string       // by which edges sign, as the relay last said it
	news    atomic.Int64 // when the last segment came, Unix ns; 0: none has
	trouble string       // the last problem that was logged
}

// MirrorOptions configure a Mirror.
type MirrorOptions struct {
	Relay string        // host:port of the station's relay
	Token func() string // of this edge: see Options.Edge; asked for at each request
	// Uncounted is Options.Uncounted.
	Uncounted bool
	// SessionBurst is Options.SessionBurst.
	SessionBurst int
	Log          *slog.Logger
}

const (
	// pullEvery is between two looks at the relay's playlist: how much later than at the
	// relay a segment is here, at most, beside its own way.
	pullEvery = 500 * time.Millisecond
	// listWait and segmentWait bound one fetch: a segment of 10 s comes over a line of
	// 150 kB/s in 4 s.
	listWait    = 3 * time.Second
	segmentWait = 10 * time.Second
	mostList    = 256 << 10
	mostSegment = 8 << 20
	mostListed  = 64 // segments
	// staleAfter is how long nothing may have come for listening to begin.
	staleAfter = 26 * time.Second
)

// NewMirror makes a Mirror. It fetches nothing until Pull or Run.
func NewMirror(o MirrorOptions) *Mirror {
	opts := Options{Log: o.Log, Uncounted: o.Uncounted, SessionBurst: o.SessionBurst}.withDefaults()
	secret := make([]byte, sha256.Size) // nobody's, until the relay says which
	_, _ = rand.Read(secret)            // never fails (crypto/rand)
	m := &Mirror{
		origin: (&url.URL{Scheme: "http", Host: o.Relay, Path: "/" + MainPath + "/"}).String(), token: o.Token,
		http: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, DisableCompression: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	w := newWindow(opts.SegmentDuration, opts.SegmentCount, 0, time.Now())
	w.sequence = 0 // the relay numbers
	m.output = newOutput(opts, w, secret, time.Now())
	m.sessions.anywhere = true
	m.fresh = func() bool {
		at := m.news.Load()
		return at != 0 && time.Since(time.Unix(0, at)) < staleAfter
	}
	return m
}

// Handler serves what the relay's address does, below the same path.
func (m *Mirror) Handler() http.Handler { return m.hlsHandler() }

// Listening counts who listens here.
func (m *Mirror) Listening() int {
	n, _ := m.sessions.counts(time.Now())
	return n
}

// Fetched counts the bytes of playlists and segments that came from the relay.
func (m *Mirror) Fetched() uint64 { return m.count.bytesReceived.Load() }

// Sent counts the bytes of playlists and segments that listeners were sent.
func (m *Mirror) Sent() uint64 { return m.count.bytesSent.Load() }

// Run follows the relay until ctx ends.
func (m *Mirror) Run(ctx context.Context) error {
	defer m.http.CloseIdleConnections()
	for retry.Pause(ctx, pullEvery) == nil {
		m.tell(ctx, m.Pull(ctx))
	}
	return nil
}

// tell logs a problem once, and its end.
func (m *Mirror) tell(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case err != nil && m.trouble == "":
		m.trouble = err.Error()
		m.log.Warn("cannot fetch HLS from the relay: listeners hear what is here", "err", err)
	case err == nil && m.trouble != "":
		m.trouble = ""
		m.log.Info("HLS comes from the relay again")
	}
}

// Pull brings the playlist up to date, once.
func (m *Mirror) Pull(ctx context.Context) error {
	m.pulling.Lock()
	defer m.pulling.Unlock()
	text, err := m.fetch(ctx, mediaName, listWait, mostList)
	if err != nil {
		return err
	}
	list, target, err := parseList(text)
	if err != nil {
		return fmt.Errorf("playlist of the relay: %w", err)
	}
	newest := list[len(list)-1].sequence
	if end := m.window.next() - 1; newest < end && m.fresh() {
		return fmt.Errorf("playlist of the relay: it ends at segment %d, and %d was there: is it another station's?", newest, end)
	}
	got, fetched, err := m.complete(ctx, list)
	if len(got) > 0 && fetched {
		m.news.Store(time.Now().UnixNano())
		m.window.show(target, got, time.Now())
	}
	return err
}

// complete fetches the audio of those segments that are not here yet. It returns the newest
// that follow one another, all with their audio.
func (m *Mirror) complete(ctx context.Context, list []*segment) (got []*segment, fetched bool, err error) {
	for _, s := range list {
		if here := m.window.segment(s.name()); here != nil {
			got = append(got, here)
			continue
		}
		data, problem := m.fetch(ctx, s.name(), segmentWait, mostSegment)
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

// errGone says that the relay has no such file.
var errGone = errors.New("it is not there")

// fetch gets one file of the relay.
func (m *Mirror) fetch(ctx context.Context, name string, within time.Duration, most int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.origin+name, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set(client.EdgeHeader, m.token())
	resp, err := m.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil, fmt.Errorf("%s: %w", name, errGone)
	case http.StatusUnauthorized:
		return nil, fmt.Errorf("the relay %s takes this edge for a listener: bus.credential or sync_token must be the station's, and its name not in bus.refused there", req.URL.Host)
	default:
		return nil, fmt.Errorf("%s: the relay %s answered %s", name, req.URL.Host, resp.Status)
	}
	m.signWith(resp.Header.Get(keyHeader))
	data, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case int64(len(data)) > most:
		return nil, fmt.Errorf("%s: more than %d bytes", name, most)
	}
	m.count.bytesReceived.Add(uint64(len(data)))
	return data, nil
}

// signWith takes the key by which all edges sign.
func (m *Mirror) signWith(text string) {
	if key, err := hex.DecodeString(text); err == nil && len(key) == sha256.Size && text != m.key {
		m.key = text
		m.sessions.signWith(key)
	}
}

// parseList reads a media playlist of a relay; its segments have no audio yet.
func parseList(text []byte) (out []*segment, target time.Duration, err error) {
	var list playlist.Media
	if err := list.Unmarshal(text); err != nil {
		return nil, 0, err
	}
	if n := len(list.Segments); n == 0 || n > mostListed || list.TargetDuration < 1 || list.TargetDuration > 20 || list.MediaSequence < 0 {
		return nil, 0, fmt.Errorf("%d segments of %d s from number %d are none of a station's", n, list.TargetDuration, list.MediaSequence)
	}
	era := 0
	if list.DiscontinuitySequence != nil {
		era = *list.DiscontinuitySequence
	}
	for i, in := range list.Segments {
		s := &segment{sequence: list.MediaSequence + i, discontinuity: in.Discontinuity}
		if in.URI != s.name() || in.DateTime == nil || in.Duration <= 0 || in.Duration > time.Minute {
			return nil, 0, fmt.Errorf("entry %d, %.40q, is none of a station's", i, in.URI)
		}
		if in.Discontinuity {
			era++
		}
		s.era, s.at, s.duration = era, *in.DateTime, in.Duration
		out = append(out, s)
	}
	return out, time.Duration(list.TargetDuration) * time.Second, nil
}
