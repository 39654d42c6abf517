package relay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bluenviron/gohlslib/v2/pkg/playlist"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

const edgeToken = "edge.cairo-2:secret"

func takesEdges(o *Options) { o.Edge = func(token string) bool { return token == edgeToken } }

// anyWait has a relay on a machine that is held up not be taken for one that is away.
func anyWait() waits { return waits{list: time.Hour, segment: time.Hour} }

// mirrored is an edge before a relay.
type mirrored struct {
	*Mirror
	*httptest.Server
	log *testkit.Lines
}

func mirror(t *testing.T, origin, token string) *mirrored {
	t.Helper()
	log, lines := testkit.Log(t)
	m := NewMirror(MirrorOptions{Relays: []string{origin}, Token: func() string { return token }, Log: log})
	m.waits = anyWait()
	srv := httptest.NewServer(m.Handler())
	t.Cleanup(srv.Close)
	return &mirrored{m, srv, lines}
}

func (m *mirrored) follow(t *testing.T) {
	t.Helper()
	testkit.Background(t, m.Run)
}

func (m *mirrored) file(name string) string { return m.URL + "/main/" + name }

// listen begins a session whose token is in the URIs.
func (m *mirrored) listen(t *testing.T) (suffix string) {
	t.Helper()
	r, text := get(t, m.file("index.m3u8?cookieCheck=1"))
	status(t, r, 200)
	return text[strings.Index(text, "?session="):len(strings.TrimSpace(text))]
}

// An edge shows the relay's playlist and fetches each segment once, however many listen.
// While the relay is away its listeners have what is there; afterwards they go on.
func TestAMirrorFetchesEachSegmentOnce(t *testing.T) {
	dir := shortDir(t)
	address := freeAddress(t)
	onAddress := func(o *Options) { takesEdges(o); o.HLSAddress = address }
	s, stop := start(t, dir, onAddress)
	publish(t, s, 4*time.Second)
	onAir(t, s)
	m := mirror(t, address, edgeToken)
	m.sessions.limits.idle = time.Hour // whoever has his segments early is counted with the last
	m.follow(t)
	testkit.Eventually(t, "the mirror is there", m.fresh)

	var everybody sync.WaitGroup
	heard := make([]int, 40)
	v := make([]*historyValidator, len(heard))
	there := func(uri string) bool {
		name, _, _ := strings.Cut(uri, "?")
		return m.window.file(name) != nil
	}
	for i := range heard {
		suffix := m.listen(t)
		v[i] = newLiveValidator()
		everybody.Go(func() {
			for had := map[string]bool{}; len(had) < 8; {
				asked := time.Now()
				_, text := get(t, m.file(mediaName+suffix))
				if err := v[i].see([]byte(text), asked, there); err != nil {
					t.Error(err)
					return
				}
				name := lastSegment(t, text)
				if had[name] {
					testkit.Eventually(t, "the next segment", func() bool {
						_, text = get(t, m.file(mediaName+suffix))
						return lastSegment(t, text) != name
					})
					name = lastSegment(t, text)
				}
				r, audio := get(t, m.file(name))
				if r.StatusCode != 200 || len(audio) == 0 {
					t.Errorf("%s: %d, %d bytes", name, r.StatusCode, len(audio))
				}
				had[name] = true
				heard[i]++
			}
		})
	}
	everybody.Wait()
	if n, _ := m.Listening(); n != len(heard) {
		t.Errorf("%d listen, want %d", n, len(heard))
	}
	if s.Snapshot().Sessions != 0 {
		t.Error("the edge counts as a listener of the relay")
	}
	// One may have been fetched that is not shown yet. A second fetch of any would never be
	// made up for.
	testkit.EventuallyNil(t, "each segment fetched once", func() error {
		m.window.mu.RLock()
		made := m.window.total
		m.window.mu.RUnlock()
		if fetched := s.Snapshot().SegmentsServed; fetched != made {
			return fmt.Errorf("%d fetches of %d segments", fetched, made)
		}
		return nil
	})
	at, _ := m.window.text("")
	testkit.Eventually(t, "the same list as at the relay", func() bool {
		want, _ := s.window.text("")
		at, _ = m.window.text("")
		return string(at) == string(want)
	})

	suffix := m.listen(t)
	stop()
	testkit.Eventually(t, "the edge notices", func() bool { return m.log.Count("cannot fetch HLS from the relay") == 1 })
	r, text := get(t, m.file(mediaName+suffix))
	status(t, r, 200)
	r, _ = get(t, m.file(lastSegment(t, text)))
	status(t, r, 200)
	before := lastSegment(t, text)

	// Segments of a second, and a burst of them, outrun for a while the seconds that a relay
	// which starts anew numbers from.
	testkit.Eventually(t, "numbers that were not used", func() bool { return time.Now().Unix()-sequenceEpoch > int64(s.window.next()) })
	again, _ := start(t, dir, onAddress)
	publish(t, again, 4*time.Second)
	var asked time.Time
	testkit.Eventually(t, "it goes on", func() bool {
		asked = time.Now()
		_, text = get(t, m.file(mediaName+suffix))
		// A relay that begins anew lists its first segments one after another.
		return lastSegment(t, text) != before && strings.Count(text, "#EXTINF:") > 3
	})
	if err := v[0].see([]byte(text), asked, there); err != nil {
		t.Error(err)
	}
	// Listeners are shown what came before the log tells of it.
	testkit.Eventually(t, "the edge says that the relay is back", func() bool { return m.log.Count("HLS comes from the relay again") == 1 })
	if m.log.Count("cannot fetch") != 1 {
		t.Errorf("the log:\n%s", m.log)
	}
}

// A listener whose edge dies goes on at another with the same session; nobody makes one up.
func TestAListenerGoesOnAtAnotherEdge(t *testing.T) {
	s, _ := start(t, shortDir(t), takesEdges)
	publish(t, s, 4*time.Second)
	onAir(t, s)
	one, two := mirror(t, s.HLSAddr().String(), edgeToken), mirror(t, s.HLSAddr().String(), edgeToken)
	guess := newSessions(sessionLimits{fresh: time.Minute, most: 9}, nil, time.Now())
	forged, _ := guess.begin(time.Now(), nil)
	if r, _ := get(t, two.file(mediaName+"?session="+forged)); r.StatusCode != 401 {
		t.Errorf("a session signed with no key, before the relay was asked: %d", r.StatusCode)
	}
	for _, m := range []*mirrored{one, two} {
		if err := m.Pull(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	suffix := one.listen(t)
	r, _ := get(t, two.file(mediaName+suffix))
	status(t, r, 200)
	for name, token := range map[string]string{"signed with no key": forged, "of the relay itself": strings.TrimPrefix(begin(t, s), sessionCookie+"=")} {
		if r, _ := get(t, two.file(mediaName+"?session="+token)); r.StatusCode != 401 {
			t.Errorf("a session %s: %d", name, r.StatusCode)
		}
	}
}

// Only an edge is served without a session, and what it is told does not leave with others.
func TestOnlyAnEdgeIsServedWithoutASession(t *testing.T) {
	s, _ := start(t, shortDir(t), takesEdges)
	publish(t, s, 4*time.Second)
	onAir(t, s)
	r, text := get(t, hls(s, mediaName), client.EdgeHeader, edgeToken)
	status(t, r, 200)
	if r.Header.Get(keyHeader) == "" || r.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("the answer to an edge: %v", r.Header)
	}
	for _, name := range []string{masterName, mediaName, lastSegment(t, text)} { // a cache between would tell the key to everybody
		if r, _ := get(t, hls(s, name), client.EdgeHeader, edgeToken); r.StatusCode != 200 || r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s, to an edge: %d %v", name, r.StatusCode, r.Header)
		}
	}
	for _, token := range []string{"", "guess", edgeToken + "x"} {
		r, _ := get(t, hls(s, mediaName), client.EdgeHeader, token)
		status(t, r, 401)
		if r.Header.Get(keyHeader) != "" {
			t.Error("the key of edges is told to a stranger")
		}
	}
	m := mirror(t, s.HLSAddr().String(), "guess")
	if err := m.Pull(t.Context()); err == nil || !strings.Contains(err.Error(), "bus.credential") {
		t.Errorf("a wrong credential: %v", err)
	}
}

// Without sessions everybody gets the same bytes, which a network between may keep.
func TestUncountedPlaylistsAreTheSameForAll(t *testing.T) {
	s, _ := start(t, shortDir(t), func(o *Options) { o.Uncounted = true })
	r, _ := get(t, hls(s, "index.m3u8"))
	status(t, r, 503)
	publish(t, s, 4*time.Second)
	onAir(t, s)
	_, text := get(t, hls(s, mediaName))
	for name, cache := range map[string]string{
		"index.m3u8": "public, max-age=10", mediaName: "public, max-age=1", lastSegment(t, text): "public, max-age=600, immutable", "seg1.m4s": "no-store",
	} {
		r, body := get(t, hls(s, name), "Cookie", "hlsSession=another; cookieCheck=1")
		if r.Header.Get("Cache-Control") != cache || r.Header.Get("Access-Control-Allow-Origin") != "*" || len(r.Cookies()) != 0 || strings.Contains(body, "session") || r.Header.Get(keyHeader) != "" {
			t.Errorf("%s: %d %v\n%.200q", name, r.StatusCode, r.Header, body)
		}
	}
}

// A relay of before the renditions serves MPEG-TS: an edge says so once, whatever was wrong
// with it before, and goes on when the relay is like itself.
func TestAMirrorOfAnotherVersionSaysSo(t *testing.T) {
	t.Parallel()
	const away, older, same = 0, 1, 2
	var is atomic.Int64
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case is.Load() == away:
			http.Error(w, "off the air", http.StatusServiceUnavailable)
		case r.URL.Path != "/main/"+mediaName:
			_, _ = w.Write([]byte("audio"))
		default:
			name := "seg7.ts"
			if is.Load() == same {
				w.Header().Set(renditionsHeader, "256")
				name = "seg7.m4s"
			}
			_, _ = fmt.Fprintf(w, "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-MAP:URI=\"init_44100x2.mp4\"\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n#EXTINF:2.0,\n%s\n", name)
		}
	}))
	t.Cleanup(origin.Close)
	m := mirror(t, strings.TrimPrefix(origin.URL, "http://"), edgeToken)
	pull := func() error {
		err := m.Pull(t.Context())
		m.tell(t.Context(), m.relays[0], err)
		return err
	}
	if err := pull(); err == nil || errors.Is(err, errVersion) {
		t.Errorf("a relay that is off the air: %v", err)
	}
	is.Store(older)
	for range 3 {
		if err := pull(); !errors.Is(err, errVersion) {
			t.Errorf("a relay of another version: %v", err)
		}
	}
	if n := m.log.Count("the relay runs another version of Athir: update both"); n != 1 {
		t.Errorf("said %d times:\n%s", n, m.log)
	}
	is.Store(same)
	if err := pull(); err != nil || m.window.file("seg7.m4s") == nil {
		t.Errorf("a relay of the same version: %v", err)
	}
}

// A relay that cannot keep up, or that is none: what is shown stays a list of consecutive
// segments with their audio, and never goes back.
func TestAMirrorOfABadRelayShowsWhatIsWhole(t *testing.T) {
	t.Parallel()
	var first, missing, broken atomic.Int64
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int64
		if r.URL.Path == "/main/"+mediaName {
			w.Header().Set(renditionsHeader, "256,64")
			_, _ = fmt.Fprintf(w, "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:%d\n#EXT-X-MAP:URI=\"init_44100x2.mp4\"\n", first.Load())
			for i := range int64(6) {
				_, _ = fmt.Fprintf(w, "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:%02dZ\n#EXTINF:2.0,\nseg%d.m4s\n", (first.Load()+i)%60, first.Load()+i)
			}
			return
		}
		_, _ = fmt.Sscanf(r.URL.Path, "/main/seg%d.m4s", &n)
		switch n {
		case missing.Load():
			http.NotFound(w, r)
		case broken.Load():
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("half"))
		default:
			_, _ = fmt.Fprintf(w, "audio %d", n)
		}
	}))
	t.Cleanup(origin.Close)
	m := mirror(t, strings.TrimPrefix(origin.URL, "http://"), edgeToken)
	shown := func() (from, to int) {
		t.Helper()
		text, err := m.window.text("")
		if err != nil || text == nil {
			return 0, -1
		}
		var list playlist.Media
		if err := list.Unmarshal(text); err != nil {
			t.Fatal(err)
		}
		for i, s := range list.Segments {
			if got := m.window.file(s.URI); string(got) != fmt.Sprintf("audio %d", list.MediaSequence+i) {
				t.Errorf("%s is shown without its audio", s.URI)
			}
		}
		return list.MediaSequence, list.MediaSequence + len(list.Segments) - 1
	}
	for _, step := range []struct {
		what                   string
		first, missing, broken int64
		from, to               int
	}{
		{"one is gone", 100, 102, 0, 103, 105},
		{"it is there after all", 100, 0, 0, 100, 105},
		{"one breaks off", 103, 0, 107, 103, 106},
		{"a minute later", 200, 0, 0, 200, 205},
		{"the relay goes back", 190, 0, 0, 200, 205},
		{"and on", 201, 0, 0, 201, 206},
	} {
		first.Store(step.first)
		missing.Store(step.missing)
		broken.Store(step.broken)
		err := m.Pull(t.Context())
		if from, to := shown(); from != step.from || to != step.to {
			t.Errorf("%s: %d to %d is shown, want %d to %d (%v)", step.what, from, to, step.from, step.to, err)
		}
	}
}

// Whatever a relay answers is refused or whole.
func FuzzParseList(f *testing.F) {
	f.Add([]byte("#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-DISCONTINUITY-SEQUENCE:3\n#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI=\"init_44100x2.mp4\"\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n#EXTINF:2.0,\nseg7.m4s\n"))
	f.Add([]byte("#EXTM3U\n#EXTINF:2,\n../../etc/passwd\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, target, err := parseList(text, three())
		if err != nil {
			return
		}
		if len(list) == 0 || target <= 0 {
			t.Fatalf("%d segments of %s", len(list), target)
		}
		for i, s := range list {
			if s.sequence != list[0].sequence+i || s.duration <= 0 || !plain(three().segment(s.sequence, 2)) || !plain(s.sound.head()) || s.at.IsZero() {
				t.Fatalf("%+v", s)
			}
		}
	})
}

// A mirror ends with its context, in the midst of a fetch too.
func TestAMirrorEndsInTheMidstOfAFetch(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 8)
	origin := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(origin.Close)
	m := mirror(t, strings.TrimPrefix(origin.URL, "http://"), edgeToken)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	testkit.Receive(t, "a fetch", asked)
	cancel()
	if err := testkit.Receive(t, "the end", ended); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
