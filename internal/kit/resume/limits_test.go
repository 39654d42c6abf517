package resume

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

func (w *world) from(address string) *sender {
	s := w.sender()
	s.extra = map[string]string{"X-Forwarded-For": address}
	return s
}

func TestLimitsOfOneClientOfItsNetworkAndOfAll(t *testing.T) {
	w := build(t, func(o *Options) {
		o.Limits = Limits{Size: 1000, Uploads: 30, Bytes: 30_000, ClientUploads: 3, ClientBytes: 2500, Creations: 100}
	})
	post := func(address string, size int) reply {
		t.Helper()
		return w.from(address).must(t, "POST", root, nil, length(size))
	}
	for i := range 3 {
		if got := post("203.0.113.1", 10); got.Status != 201 {
			t.Fatalf("%d: %+v", i, got)
		}
	}
	if got := post("203.0.113.1", 10); got.Status != 429 || got.Get("Retry-After") == "" || !strings.Contains(got.detail(), "unfinished") {
		t.Errorf("a fourth: %+v", got)
	}
	for i, want := range []int{201, 201, 429} {
		if got := post("203.0.113.2", 1000); got.Status != want {
			t.Errorf("kilobyte %d: %+v", i, got)
		}
	}
	made := 5
	for i := range 24 { // of one site, from networks of its own
		if got := post(fmt.Sprintf("2001:db8:1:%x::1", i), 10); got.Status != 201 {
			t.Fatalf("network %d: %+v", i, got)
		}
		made++
	}
	if got := post("2001:db8:1:ffff::1", 10); got.Status != 429 {
		t.Errorf("a site's 25th: %+v", got)
	}
	for ; made < 30; made++ {
		post(fmt.Sprintf("198.51.100.%d", made), 10)
	}
	if got := post("198.51.100.200", 10); got.Status != 201 { // the site gives one up
		t.Errorf("one beyond all: %+v", got)
	}
	if s := w.Stats(); s.Unfinished != 30 || s.Announced != 2000+28*10 {
		t.Errorf("%+v", s)
	}
}

// Whoever takes all places and sends nothing keeps nobody out, and none that is sent to
// loses its place.
func TestAnIdleUploadGivesItsPlaceUp(t *testing.T) {
	w := build(t, func(o *Options) { o.Limits = Limits{Uploads: 2} })
	s := w.sender()
	idle, busy := s.create(t, 100), s.create(t, 100)
	w.clock.pass(15 * time.Minute)
	s.patch(t, busy, 0, song(1))
	s.create(t, 100)
	if got := s.head(t, idle); got.Status != 404 {
		t.Errorf("the idle one: %+v", got)
	}
	if got := s.head(t, busy); got.Status != 200 {
		t.Errorf("the busy one: %+v", got)
	}
	if got := s.must(t, "POST", root, nil, length(100)); got.Status != 507 {
		t.Errorf("nobody is idle: %+v", got)
	}
}

// Whoever has a network, and sends a byte now and then to all that it may have, keeps nobody
// out: the network with the most gives one up, though a request goes on with it.
func TestTheNetworkWithTheMostGivesItsPlacesUp(t *testing.T) {
	w := build(t, func(o *Options) {
		o.Limits = Limits{Uploads: 4, Bytes: 10_000, Stall: time.Hour, Patience: time.Hour, Quiet: time.Hour}
	})
	post := func(address string, size int) reply {
		t.Helper()
		return w.from(address).must(t, "POST", root, nil, length(size))
	}
	var theirs []string
	for i := range 3 {
		theirs = append(theirs, post(fmt.Sprintf("203.0.113.%d", i), 100).Get("Location"))
		w.clock.pass(time.Second)
	}
	alone := post("198.51.100.1", 100).Get("Location")
	if got := post("203.0.113.9", 100); got.Status != 507 || !strings.Contains(got.detail(), "try again later") {
		t.Errorf("one more of the same: %+v", got)
	}
	if got := post("192.0.2.1", 100); got.Status != 201 {
		t.Fatalf("of another network: %+v", got)
	}
	if got := w.sender().head(t, theirs[0]); got.Status != 404 {
		t.Errorf("the oldest of those with the most: %+v", got)
	}
	body, ended := begin(t, w, theirs[1], song(50))
	other, alsoEnded := begin(t, w, theirs[2], song(50))
	if got := post("192.0.3.1", 100); got.Status != 507 {
		t.Errorf("while requests go on with all others: %+v", got)
	}
	if got := testkit.Receive(t, "the older request's end", ended); got.Status != 507 && got.Status != 0 {
		t.Errorf("it was answered %+v", got)
	}
	testkit.Eventually(t, "its place is free", func() bool { return post("192.0.3.1", 100).Status == 201 })
	if got := post("192.0.4.1", 100); got.Status != 507 {
		t.Errorf("where each has one: %+v", got)
	}
	_, _ = other.Write(song(50))
	_ = other.Close()
	if got := testkit.Receive(t, "the other request's end", alsoEnded); got.Status != 204 {
		t.Errorf("the one that was left: %+v", got)
	}
	if got := w.sender().head(t, alone); got.Status != 200 {
		t.Errorf("one alone in its network: %+v", got)
	}
	_ = body.Close()
}

// The same holds for the bytes that are announced, which one upload may have more of.
func TestTheNetworkWithTheMostBytesGivesThemUp(t *testing.T) {
	w := build(t, func(o *Options) { o.Limits = Limits{Uploads: 100, Bytes: 1000, ClientBytes: 1000} })
	for range 10 {
		w.from("203.0.113.1").must(t, "POST", root, nil, length(100))
	}
	if got := w.from("198.51.100.1").must(t, "POST", root, nil, length(450)); got.Status != 201 {
		t.Errorf("%+v", got)
	}
	if got := w.from("198.51.100.1").must(t, "POST", root, nil, length(450)); got.Status != 507 {
		t.Errorf("more than the other then has: %+v", got)
	}
	if s := w.Stats(); s.Unfinished != 6 || s.Announced != 950 {
		t.Errorf("%+v", s)
	}
}

func TestCreationsAreLimitedInTime(t *testing.T) {
	w := build(t, func(o *Options) { o.Limits = Limits{Creations: 2, CreationsEvery: time.Minute} })
	s := w.from("203.0.113.1")
	for i, want := range []int{201, 201, 429} {
		got := s.must(t, "POST", root, nil, length(10))
		if got.Status != want {
			t.Errorf("%d: %+v", i, got)
		}
		if got.Status == 201 {
			s.must(t, "DELETE", got.Get("Location"), nil, nil)
		}
	}
	w.clock.pass(time.Minute)
	s.create(t, 10)
}

func TestAFullDiskRefusesEarlyAndKeepsWhatIsThere(t *testing.T) {
	var free atomic.Uint64
	w := build(t, func(o *Options) {
		o.Limits = Limits{Reserve: 1000}
		o.Space = func(string) (uint64, uint64, error) { return free.Load(), 1 << 40, nil }
	})
	s := w.sender()
	free.Store(1199)
	if got := s.must(t, "POST", root, nil, length(200)); got.Status != 507 || !strings.Contains(got.detail(), "no room") {
		t.Errorf("%+v", got)
	}
	free.Store(1200)
	path := s.create(t, 200)
	if got := s.must(t, "POST", root, nil, length(1)); got.Status != 507 {
		t.Errorf("room that is promised already: %+v", got)
	}
	s.patch(t, path, 0, song(50))
	free.Store(499) // others fill it
	if got := s.patch(t, path, 50, song(150)); got.Status != 507 {
		t.Errorf("%+v", got)
	}
	if got := s.head(t, path); got.offset() != 50 {
		t.Errorf("%+v", got)
	}
	free.Store(1 << 30)
	if got := s.patch(t, path, 50, song(150)); got.Status != 204 || got.Get("X-Post-Id") != "1" {
		t.Errorf("%+v", got)
	}
}

func TestUnfinishedOnesExpireAndReceiptsAfterADay(t *testing.T) {
	w := build(t, nil)
	s := w.sender()
	start := w.clock.Now()
	old, done := s.create(t, 100), s.create(t, 10)
	s.patch(t, done, 0, song(10))
	w.clock.pass(23 * time.Hour)
	got := s.patch(t, old, 0, song(50))
	if want := start.Add(47 * time.Hour).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"); got.Get("Upload-Expires") != want {
		t.Errorf("expires %s, want %s", got.Get("Upload-Expires"), want)
	}
	w.sweep(t.Context())
	if s.head(t, old).Status != 200 || s.head(t, done).Get("X-Post-Id") != "1" {
		t.Error("removed too soon")
	}
	w.clock.pass(time.Hour + time.Second)
	w.sweep(t.Context())
	if s.head(t, old).Status != 200 || s.head(t, done).Status != 404 {
		t.Error("a day after it was taken the receipt goes, the unfinished upload stays")
	}
	w.clock.pass(23 * time.Hour)
	if got := s.head(t, old); got.Status != 404 {
		t.Errorf("before the sweep: %+v", got)
	}
	w.sweep(t.Context())
	if left, _ := os.ReadDir(w.opts.Dir); len(left) != 0 {
		t.Errorf("%v", left)
	}
}

// A Taker that is away is the sender's 503; what is whole waits for it, also without him.
func TestWhatIsWholeWaitsForItsTaker(t *testing.T) {
	w := build(t, nil)
	away := true
	w.shelf.before = func() error {
		if away {
			return fmt.Errorf("posts: %w", station.ErrUnavailable)
		}
		return nil
	}
	s := w.sender()
	path := s.create(t, 10)
	if got := s.patch(t, path, 0, song(10)); got.Status != 503 || got.detail() != "posts" || got.Get("Retry-After") == "" {
		t.Errorf("%+v", got)
	}
	if got := s.must(t, "DELETE", path, nil, nil); got.Status != 503 {
		t.Errorf("%+v", got)
	}
	if got := s.head(t, path); got.Status != 503 {
		t.Errorf("%+v", got)
	}
	calls := len(w.shelf.taken())
	w.sweep(t.Context())
	if n := len(w.shelf.taken()); n != calls {
		t.Errorf("tried again at once")
	}
	w.restart(t, w.opts)
	away = false
	w.sweep(t.Context())
	if got := w.sender().head(t, path); got.Status != 200 || got.Get("X-Post-Id") != "1" {
		t.Errorf("%+v", got)
	}
	if n := len(w.shelf.posts()); n != 1 {
		t.Errorf("%d posts", n)
	}
}

// What a crash or a hand left is removed at the start, and nothing else is.
func TestAStartRemovesWhatNothingCanBeMadeOf(t *testing.T) {
	w := build(t, nil)
	s := w.sender()
	whole, torn, without, longer := s.create(t, 100), s.create(t, 100), s.create(t, 100), s.create(t, 100)
	s.patch(t, whole, 0, song(60))
	id := func(path string) string { return strings.TrimPrefix(path, root) }
	text, err := os.ReadFile(w.path(id(torn), recordSuffix))
	orphan := strings.Repeat("A", 26)
	for path, content := range map[string][]byte{
		w.path(id(torn), recordSuffix): text[:len(text)/2], w.path(id(whole), recordSuffix+".new"): text[:7],
		w.path(id(longer), partSuffix): make([]byte, 101), w.path(orphan, partSuffix): nil,
		filepath.Join(w.opts.Dir, "README"): []byte("the operator's"),
	} {
		err = errors.Join(err, os.WriteFile(path, content, 0o600))
	}
	if err := errors.Join(err, os.Remove(w.path(id(without), partSuffix))); err != nil {
		t.Fatal(err)
	}
	w.restart(t, w.opts)
	if got := w.sender().head(t, whole); got.offset() != 60 {
		t.Errorf("%+v", got)
	}
	var left []string
	entries, _ := os.ReadDir(w.opts.Dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if len(left) != 3 || w.Stats().Unfinished != 1 {
		t.Errorf("left %v, %+v", left, w.Stats())
	}
}

// onASmallDisk is told in a mount namespace of its own.
func onASmallDisk(dir string) error {
	if err := testkit.SmallDisk(dir, 1024); err != nil {
		return err
	}
	shelf := &shelf{dir: filepath.Join(dir, "posts")}
	u, err := Open(Options{Dir: filepath.Join(dir, "tus"), Base: root, Keys: testKeys(), Taker: shelf, Log: slog.New(slog.DiscardHandler), Limits: Limits{Reserve: 1}})
	if err := errors.Join(err, os.Mkdir(shelf.dir, 0o700)); err != nil {
		return err
	}
	srv := httptest.NewServer(door(u))
	defer srv.Close()
	s, content := newSender(srv.URL), song(600<<10)
	made, err := s.do("POST", root, nil, length(len(content)))
	if err != nil {
		return err
	}
	path := made.Get("Location")
	unfill, err := testkit.Fill(dir)
	if err != nil {
		return err
	}
	u.opts.Space = func(string) (uint64, uint64, error) { return 1 << 30, 1 << 30, nil } // it fills up meanwhile
	got, err := s.do("PATCH", path, bytes.NewReader(content[:100<<10]), at(0))
	for try := 0; err != nil && try < 50; try++ { // the answer came while the body was on its way: ask again, as senders do
		got, err = s.do("PATCH", path, bytes.NewReader(content[:100<<10]), at(0))
	}
	if err != nil || got.Status != 507 || strings.Contains(got.Body, dir) {
		return fmt.Errorf("on a full disk: %d %s, %w", got.Status, got.Body, err)
	}
	unfill()
	if got, err := s.send(path, content); err != nil || got.Get("X-Post-Id") != "1" {
		return fmt.Errorf("with room again: %+v, %w", got, err)
	}
	if posts := shelf.posts(); len(posts) != 1 || posts[0] != digest(content) {
		return fmt.Errorf("posts: %v", posts)
	}
	return nil
}

func TestADiskThatIsReallyFull(t *testing.T) { testkit.InOwnMounts(t, smallDiskEnv) }

// knock opens a connection, through a door, with the head of a request for an upload that is not there, whose
// body is still to come.
func (w *world) knock(t *testing.T, header string, size int) net.Conn {
	t.Helper()
	srv := httptest.NewServer(door(w.Uploads))
	t.Cleanup(srv.Close)
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "PATCH %s%s HTTP/1.1\r\nHost: radio.example\r\n%s\r\nTus-Resumable: 1.0.0\r\n"+
		"Upload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: %d\r\n\r\n",
		root, strings.Repeat("A", 26), header, size)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// Whoever is refused while he sends reads why, also where the connection ends with that
// request: it is closed after what is under way, not on it.
func TestARefusedSenderReadsWhy(t *testing.T) {
	w := build(t, nil)
	content := song(7 << 20)
	for _, header := range []string{"Connection: keep-alive", "Connection: close"} {
		conn := w.knock(t, header, len(content))
		if _, err := conn.Write(content); err != nil {
			t.Fatalf("%s: it was cut off while it sent: %v", header, err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", header, err)
		}
		text, err := io.ReadAll(res.Body)
		if got := (reply{res.StatusCode, res.Header, string(text)}); err != nil || got.Status != 404 || got.detail() == "" {
			t.Errorf("%s: %+v, %v", header, got, err)
		}
	}
}

// Whoever asks before he sends, as curl does, is refused before.
func TestARefusedSenderThatAsksIsNotToldToGoOn(t *testing.T) {
	w := build(t, nil)
	line, err := bufio.NewReader(w.knock(t, "Expect: 100-continue", 100)).ReadString('\n')
	if err != nil || !strings.Contains(line, " 404 ") {
		t.Errorf("%q, %v", line, err)
	}
}
