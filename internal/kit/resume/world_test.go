package resume

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

const knownKeys = "type, title, artist, description, rights"

// testKeys are what the senders of these tests may say.
func testKeys() []Key {
	return []Key{
		{Name: "type", Longest: 16}, {Name: "title", Longest: 200}, {Name: "artist", Longest: 200},
		{Name: "description", Longest: 1500, Lines: true}, {Name: "rights", Longest: 8}, {Name: "filetype", Idle: true},
	}
}

// shelf is a Taker that keeps its word in a folder: ID.post has the number, ID.bin the
// bytes.
type shelf struct {
	dir    string
	before func() error // at the start of Take
	after  func()       // once it is done and before it is answered
	mu     sync.Mutex
	calls  []Finished
}

func (s *shelf) Take(_ context.Context, u Finished) (Receipt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, u)
	if s.before != nil {
		if err := s.before(); err != nil {
			return nil, err
		}
	}
	number := filepath.Join(s.dir, u.ID+".post")
	text, err := os.ReadFile(number)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(strconv.Itoa(len(s.posts()) + 1))
		err = file.WriteAtomic(number, text, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if err := os.Rename(u.Path, filepath.Join(s.dir, u.ID+".bin")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if s.after != nil {
		s.after()
	}
	return Receipt{"X-Post-Id": string(text), "X-Post-Token": "token of " + u.ID}, nil
}

// posts are the sums of the bytes that were taken.
func (s *shelf) posts() (sums []string) {
	names, _ := filepath.Glob(filepath.Join(s.dir, "*.bin"))
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return []string{err.Error()}
		}
		sums = append(sums, digest(content))
	}
	return sums
}

func (s *shelf) taken() []Finished {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func digest(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

// song is content that compresses and repeats nowhere.
func song(size int) []byte {
	content := make([]byte, size)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(content)
	return content
}

// clock is moved by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// world is uploads behind a real server.
type world struct {
	*Uploads
	shelf *shelf
	clock *clock
	lines *testkit.Lines
	srv   *httptest.Server
}

func build(t testing.TB, change func(*Options)) *world {
	t.Helper()
	w := &world{shelf: &shelf{dir: t.TempDir()}, clock: &clock{now: time.Now()}}
	log, lines := testkit.Log(t)
	w.lines = lines
	opts := Options{
		Dir: filepath.Join(t.TempDir(), "tus"), Base: root, Keys: testKeys(), Taker: w.shelf, Log: log, Now: w.clock.Now,
		Space: func(string) (uint64, uint64, error) { return 1 << 40, 1 << 41, nil },
	}
	if change != nil {
		change(&opts)
	}
	w.restart(t, opts)
	return w
}

// restart opens the folder anew, as after a kill: nothing was said to the old one.
func (w *world) restart(t testing.TB, opts Options) {
	t.Helper()
	if w.srv != nil {
		w.srv.CloseClientConnections()
		w.srv.Close()
	}
	u, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	w.Uploads = u
	mux := http.NewServeMux()
	mux.Handle("/api/social/tus/", u)
	mux.Handle("/api/social/tus", u)
	w.srv = httptest.NewServer(mux)
	t.Cleanup(w.srv.Close)
}

// door is what stands before every handler of a station. It reads the rest of a body that a
// handler leaves, or a refusal would be lost on whoever is still sending.
func door(h http.Handler) http.Handler { return deadline.Handler(h, time.Hour, time.Hour) }

func (w *world) sender() *sender { return newSender(w.srv.URL) }

func newSender(url string) *sender {
	return &sender{url: url, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

// sender does what tus-js-client does, with net/http.
type sender struct {
	url    string
	client *http.Client
	extra  map[string]string // headers of every request
}

// reply is an answer, read whole.
type reply struct {
	Status int
	http.Header
	Body string
}

func (r reply) offset() int64 {
	n, err := strconv.ParseInt(r.Get("Upload-Offset"), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// detail is that of a problem document; anything else is named as what it is.
func (r reply) detail() string {
	var doc struct {
		Title, Detail string
		Status        int
	}
	if r.Get("Content-Type") != "application/problem+json" {
		return "not a problem: " + r.Body
	}
	if err := json.Unmarshal([]byte(r.Body), &doc); err != nil || doc.Status != r.Status {
		return "no document: " + r.Body
	}
	return doc.Detail
}

func (s *sender) do(method, path string, body io.Reader, headers map[string]string) (reply, error) {
	req, err := http.NewRequest(method, s.url+path, body)
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Tus-Resumable", "1.0.0")
	for _, more := range []map[string]string{s.extra, headers} {
		for name, value := range more {
			req.Header.Set(name, value)
		}
	}
	if body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/offset+octet-stream")
	}
	res, err := s.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close() //nolint:errcheck // read
	text, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(text)}, err
}

func (s *sender) must(t testing.TB, method, path string, body io.Reader, headers map[string]string) reply {
	t.Helper()
	res, err := s.do(method, path, body, headers)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return res
}

const root = "/api/social/tus/"

// metadata writes Upload-Metadata.
func metadata(pairs map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		out = append(out, key+" "+base64.StdEncoding.EncodeToString([]byte(pairs[key])))
	}
	return strings.Join(out, ",")
}

// create makes an upload and returns its path.
func (s *sender) create(t testing.TB, size int) string {
	t.Helper()
	res := s.must(t, "POST", root, nil, length(size))
	if res.Status != 201 {
		t.Fatalf("creation: %d %s", res.Status, res.Body)
	}
	return res.Get("Location")
}

func length(size int) map[string]string {
	return map[string]string{"Upload-Length": strconv.Itoa(size), "Upload-Metadata": metadata(map[string]string{"type": "song", "title": "يا مسافر وحدك", "rights": "true"})}
}

func at(offset int64) map[string]string {
	return map[string]string{"Upload-Offset": strconv.FormatInt(offset, 10)}
}

func (s *sender) patch(t testing.TB, path string, offset int64, body []byte) reply {
	t.Helper()
	return s.must(t, "PATCH", path, bytes.NewReader(body), at(offset))
}

func (s *sender) head(t testing.TB, path string) reply {
	t.Helper()
	return s.must(t, "HEAD", path, nil, nil)
}

// send brings content to its end as tus-js-client does: HEAD, PATCH from there, and again
// after whatever is not a refusal for good.
func (s *sender) send(path string, content []byte) (reply, error) {
	var last error
	for range 2000 {
		res, err := s.do("HEAD", path, nil, nil)
		if err == nil && res.Status == 200 {
			offset := res.offset()
			if offset == int64(len(content)) {
				return res, nil
			}
			if offset < 0 || offset > int64(len(content)) {
				return res, fmt.Errorf("offset %q", res.Get("Upload-Offset"))
			}
			res, err = s.do("PATCH", path, bytes.NewReader(content[offset:]), at(offset))
			if err == nil && res.Status == 204 && res.offset() == int64(len(content)) {
				return res, nil
			}
		}
		if err == nil && res.Status/100 == 4 && res.Status != 409 && res.Status != 423 {
			return res, fmt.Errorf("%d %s", res.Status, res.Body)
		}
		if last = err; err == nil {
			last = fmt.Errorf("%d %s", res.Status, res.Body)
		}
	}
	return reply{}, fmt.Errorf("never came through: %w", last)
}

// arrived is how many bytes of an upload are in its file.
func (w *world) arrived(path string) int64 {
	info, err := os.Stat(w.path(strings.TrimPrefix(path, root), partSuffix))
	if err != nil {
		return -1
	}
	return info.Size()
}
