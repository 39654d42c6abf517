package resume

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

func TestAnUploadInPiecesBecomesOnePost(t *testing.T) {
	w := build(t, nil)
	s, content := w.sender(), song(300_000)
	s.extra = map[string]string{"X-Forwarded-For": "203.0.113.7", "X-Athir-Device": "device-12345", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example", "Origin": "https://evil.example"}
	made := s.must(t, "POST", root, nil, length(len(content)))
	path := made.Get("Location")
	if made.Status != 201 || !strings.HasPrefix(path, root) || len(path) != len(root)+26 || made.Get("Upload-Expires") == "" {
		t.Fatalf("%+v", made)
	}
	if got := s.patch(t, path, 0, content[:100_000]); got.Status != 204 || got.offset() != 100_000 || got.Get("X-Post-Id") != "" || got.Get("Upload-Expires") == "" {
		t.Errorf("%+v", got)
	}
	for what, got := range map[string]reply{
		"twice":       s.patch(t, path, 0, content[:100_000]),
		"a hole":      s.patch(t, path, 200_000, content[200_000:]),
		"beyond":      s.patch(t, path, 100_000, append(content[100_000:], 1)),
		"no type":     s.must(t, "PATCH", path, strings.NewReader("x"), map[string]string{"Upload-Offset": "100000", "Content-Type": "audio/mpeg"}),
		"no offset":   s.must(t, "PATCH", path, strings.NewReader("x"), nil),
		"no version":  s.must(t, "PATCH", path, strings.NewReader("x"), map[string]string{"Tus-Resumable": "0.2.2"}),
		"read back":   s.must(t, "GET", path, nil, nil),
		"no override": s.must(t, "POST", path, nil, nil),
	} {
		want := map[string]int{"twice": 409, "a hole": 409, "beyond": 413, "no type": 400, "no offset": 400, "no version": 412, "read back": 405, "no override": 405}[what]
		if got.Status != want || got.detail() == "" || got.Get("Tus-Resumable") != "1.0.0" || strings.Contains(got.detail(), "not a") && what != "read back" {
			t.Errorf("%s: %d %s", what, got.Status, got.Body)
		}
	}
	head := s.head(t, path)
	if head.Status != 200 || head.offset() != 100_000 || head.Get("Upload-Length") != "300000" || head.Get("Cache-Control") != "no-store" || !strings.Contains(head.Get("Upload-Metadata"), "type c29uZw==") {
		t.Errorf("%+v", head)
	}
	// Some networks let no PATCH through.
	last := s.must(t, "POST", path, bytes.NewReader(content[100_000:]), map[string]string{"X-HTTP-Method-Override": "PATCH", "Upload-Offset": "100000"})
	if last.Status != 204 || last.Get("X-Post-Id") != "1" || last.Get("X-Post-Token") != "token of "+path[len(root):] || last.Get("Upload-Expires") != "" {
		t.Errorf("%+v", last)
	}
	for what, got := range map[string]reply{"HEAD": s.head(t, path), "PATCH": s.patch(t, path, 300_000, nil)} {
		if got.Status/100 != 2 || got.offset() != 300_000 || got.Get("X-Post-Id") != "1" || got.Get("X-Post-Token") == "" {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if got := s.must(t, "DELETE", path, nil, nil); got.Status != 403 || !strings.Contains(got.detail(), "withdrawn") {
		t.Errorf("deleted: %+v", got)
	}
	for name := range made.Header {
		if strings.HasPrefix(name, "Access-Control") {
			t.Errorf("an answer of its own to other origins: %s", name)
		}
	}
	if diff := cmp.Diff([]string{digest(content)}, w.shelf.posts()); diff != "" {
		t.Error(diff)
	}
	want := Finished{path[len(root):], w.path(path[len(root):], partSuffix), 300_000, map[string]string{"type": "song", "title": "يا مسافر وحدك", "rights": "true"}, From{"203.0.113.7", "device-12345", ""}}
	if diff := cmp.Diff([]Finished{want}, w.shelf.taken()); diff != "" {
		t.Error(diff)
	}
}

func TestOptionsTellWhatIsSpoken(t *testing.T) {
	w := build(t, nil)
	for _, path := range []string{root, root + strings.Repeat("A", 26), strings.TrimSuffix(root, "/")} {
		got := w.sender().must(t, "OPTIONS", path, nil, nil)
		if got.Status != 200 || got.Get("Tus-Version") != "1.0.0" || got.Get("Tus-Extension") != "creation,creation-with-upload,termination,expiration" || got.Get("Tus-Max-Size") != "209715200" {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

func TestNoPathLeadsOutsideTheFolder(t *testing.T) {
	w := build(t, nil)
	s := w.sender()
	id := s.create(t, 10)[len(root):]
	if err := os.WriteFile(filepath.Join(w.opts.Dir, "..", "victim.json"), []byte(`{"id":"victim","size":5}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"..%2fvictim", id + ".json", id + ".part", id + "%00", strings.ToLower(id), id + "/", "x/" + id, strings.Repeat("A", 26), strings.Repeat("A", 4000)} {
		for _, method := range []string{"HEAD", "PATCH", "DELETE"} {
			if got := s.must(t, method, root+path, nil, at(0)); got.Status != 404 {
				t.Errorf("%s %s: %d", method, path, got.Status)
			}
		}
	}
}

func TestACreationMayBringBytes(t *testing.T) {
	w := build(t, nil)
	content := song(5000)
	got := w.sender().must(t, "POST", root, bytes.NewReader(content), length(5000))
	if got.Status != 201 || got.offset() != 5000 || got.Get("X-Post-Id") != "1" || got.Get("Location") == "" {
		t.Errorf("%+v", got)
	}
	if posts := w.shelf.posts(); len(posts) != 1 || posts[0] != digest(content) {
		t.Errorf("%v", posts)
	}
}

// The answer to a creation may be lost as any other.
func TestACreationRepeatedWithItsKeyIsOneUpload(t *testing.T) {
	w := build(t, nil)
	s, content := w.sender(), song(5000)
	headers := length(5000)
	headers["Idempotency-Key"] = "0b0e8f0e-1c53-4d39-9d75-0123456789ab"
	first := s.must(t, "POST", root, nil, headers)
	again := s.must(t, "POST", root, bytes.NewReader(content), headers)
	if again.Status != 201 || again.Get("Location") != first.Get("Location") || again.offset() != 0 || again.Get("Upload-Expires") == "" {
		t.Errorf("%+v", again)
	}
	w.restart(t, w.opts)
	s = w.sender()
	s.patch(t, first.Get("Location"), 0, content)
	if got := s.must(t, "POST", root, bytes.NewReader(content), headers); got.Status != 201 || got.offset() != 5000 || got.Get("X-Post-Id") != "1" {
		t.Errorf("%+v", got)
	}
	headers["Upload-Length"] = "5001"
	if got := s.must(t, "POST", root, nil, headers); got.Status != 409 || !strings.Contains(got.detail(), "another upload") {
		t.Errorf("%+v", got)
	}
	headers["Idempotency-Key"] = "12345678"
	if got := s.must(t, "POST", root, nil, headers); got.Status != 422 {
		t.Errorf("a key that can be guessed: %+v", got)
	}
	if n := len(w.shelf.posts()); n != 1 {
		t.Errorf("%d posts", n)
	}
}

// Two at once both find that there is no upload yet.
func TestTwoCreationsAtOnceWithOneKeyAreOneUpload(t *testing.T) {
	both := make(chan struct{})
	var inside atomic.Int32
	w := build(t, func(o *Options) {
		o.Gate = gate(func(map[string]string, From) error {
			if inside.Add(1) == 2 {
				close(both)
			}
			<-both
			return nil
		})
	})
	headers := length(10)
	headers["Idempotency-Key"] = "0b0e8f0e-1c53-4d39-9d75-0123456789ab"
	answers := make(chan int, 2)
	for range 2 {
		go func() {
			got, err := w.sender().do("POST", root, nil, headers)
			if err != nil {
				got.Status = -1
			}
			answers <- got.Status
		}()
	}
	first, second := testkit.Receive(t, "an answer", answers), testkit.Receive(t, "the other", answers)
	if min(first, second) != 201 || max(first, second) != 409 || w.Stats().Unfinished != 1 {
		t.Errorf("%d, %d: %+v", first, second, w.Stats())
	}
}

// The library refuses HEAD without a text.
func TestARefusalWithoutATextIsNoSuccess(t *testing.T) {
	w := build(t, nil)
	rec := httptest.NewRecorder()
	a := &answer{ResponseWriter: rec, uploads: w.Uploads, r: httptest.NewRequest("HEAD", root, nil), q: &request{}}
	a.WriteHeader(410)
	a.end()
	if rec.Code != 410 {
		t.Errorf("%d", rec.Code)
	}
}

func TestTerminationRemovesWhatWasSent(t *testing.T) {
	w := build(t, nil)
	s := w.sender()
	path := s.create(t, 100)
	s.patch(t, path, 0, song(50))
	if got := s.must(t, "DELETE", path, nil, nil); got.Status != 204 {
		t.Errorf("%+v", got)
	}
	if got := s.head(t, path); got.Status != 404 {
		t.Errorf("%+v", got)
	}
	if left, _ := os.ReadDir(w.opts.Dir); len(left) != 0 || w.Stats() != (Stats{}) {
		t.Errorf("%v, %+v", left, w.Stats())
	}
}

type gate func(map[string]string, From) error

func (g gate) Admit(_ context.Context, meta map[string]string, _ int64, from From) error {
	return g(meta, from)
}

func TestRefusalsReachTheSenderAsProblems(t *testing.T) {
	w := build(t, func(o *Options) {
		o.Gate = gate(func(meta map[string]string, _ From) error {
			switch meta["title"] {
			case "ads only":
				return fmt.Errorf("title: is not for a song: %w", station.ErrInvalid)
			case "boom":
				return errors.New("open /secret/path")
			}
			return nil
		})
	})
	for _, c := range []struct {
		what, length, meta string
		status             int
		detail             string
	}{
		{"the gate's", "10", metadata(map[string]string{"title": "ads only"}), 422, "title: is not for a song"},
		{"a fault", "10", metadata(map[string]string{"title": "boom"}), 500, "something went wrong on our side"},
		{"an unknown key", "10", "artits eA==", 422, `Upload-Metadata: unknown key "artits": known are ` + knownKeys},
		{"too large", "209715201", "", 413, "This file is too large: at most 200 MB are allowed."},
		{"empty", "0", "", 422, "There is nothing in this file."},
		{"negative", "-1", "", 400, "missing or invalid Upload-Length header"},
		{"not a number", "ten", "", 400, "missing or invalid Upload-Length header"},
	} {
		got := w.sender().must(t, "POST", root, nil, map[string]string{"Upload-Length": c.length, "Upload-Metadata": c.meta})
		if got.Status != c.status || got.detail() != c.detail {
			t.Errorf("%s: %d %s", c.what, got.Status, got.Body)
		}
	}
	if got := w.sender().must(t, "POST", root, nil, map[string]string{"Upload-Defer-Length": "1"}); got.Status != 501 {
		t.Errorf("deferred length: %+v", got)
	}
	if left, _ := os.ReadDir(w.opts.Dir); len(left) != 0 {
		t.Errorf("%v", left)
	}
}

// What a slow body has brought is in the file; then nobody knows whether its sender lives.
func begin(t *testing.T, w *world, path string, content []byte) (body *io.PipeWriter, ended <-chan reply) {
	t.Helper()
	read, write := io.Pipe()
	out := make(chan reply, 1)
	s := w.sender()
	go func() {
		res, err := s.do("PATCH", path, read, at(0))
		_ = read.Close()
		if err != nil {
			res.Body = err.Error()
		}
		out <- res
	}()
	t.Cleanup(func() { _ = write.Close() })
	if _, err := write.Write(content); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the first bytes in the file", func() bool { return w.arrived(path) == int64(len(content)) })
	return write, out
}

func TestANewerRequestTakesOverFromASilentOne(t *testing.T) {
	w := build(t, func(o *Options) { o.Limits = Limits{Quiet: time.Nanosecond, Patience: time.Hour, Stall: time.Hour} })
	content := song(9000)
	path := w.sender().create(t, len(content))
	_, ended := begin(t, w, path, content[:4000])
	s := w.sender()
	if got := s.head(t, path); got.Status != 200 || got.offset() != 4000 {
		t.Errorf("%+v", got)
	}
	if old := testkit.Receive(t, "the old request's end", ended); old.Status != 423 && old.Status != 0 {
		t.Errorf("the old one: %+v", old)
	}
	if got := s.patch(t, path, 4000, content[4000:]); got.Status != 204 || got.Get("X-Post-Id") != "1" {
		t.Errorf("%+v", got)
	}
	if posts := w.shelf.posts(); len(posts) != 1 || posts[0] != digest(content) {
		t.Errorf("%v", posts)
	}
}

func TestANewerRequestGivesWayToOneThatGoesOn(t *testing.T) {
	w := build(t, func(o *Options) {
		o.Limits = Limits{Quiet: time.Hour, Patience: time.Millisecond, Stall: time.Hour}
	})
	content := song(9000)
	path := w.sender().create(t, len(content))
	body, ended := begin(t, w, path, content[:4000])
	for _, method := range []string{"HEAD", "PATCH", "DELETE"} {
		if got := w.sender().must(t, method, path, bytes.NewReader(nil), at(4000)); got.Status != 423 {
			t.Errorf("%s: %+v", method, got)
		}
	}
	_, _ = body.Write(content[4000:])
	_ = body.Close()
	if got := testkit.Receive(t, "the first request's end", ended); got.Status != 204 || got.Get("X-Post-Id") != "1" {
		t.Errorf("%+v", got)
	}
}

func TestManySendersOfOneUploadMakeOnePost(t *testing.T) {
	w := build(t, func(o *Options) { o.Limits = Limits{Quiet: 50 * time.Millisecond, Patience: time.Minute} })
	content := song(1 << 20)
	path := w.sender().create(t, len(content))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := w.sender().send(path, content); err != nil || got.Get("X-Post-Id") != "1" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	all.Wait()
	if posts := w.shelf.posts(); len(posts) != 1 || posts[0] != digest(content) {
		t.Errorf("%v", posts)
	}
	if calls := w.shelf.taken(); len(calls) != 1 {
		t.Errorf("taken %d times", len(calls))
	}
}

func TestARequestThatBringsNothingIsEndedAndItsOffsetKept(t *testing.T) {
	w := build(t, nil)
	patient := w.opts
	for what, drip := range map[string]bool{"nothing": false, "a byte now and then": true} {
		path := w.sender().create(t, 1<<20)
		w.opts.Limits.Stall = 100 * time.Millisecond
		w.restart(t, w.opts)
		read, write := io.Pipe()
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			_, err := write.Write(song(4000))
			for drip && err == nil {
				time.Sleep(time.Millisecond)
				_, err = write.Write([]byte{1})
			}
		}()
		got, err := w.sender().do("PATCH", path, read, at(0)) // ends
		if err == nil && got.Status != 503 {
			t.Errorf("%s: %+v", what, got)
		}
		_ = read.Close()
		<-sent
		testkit.Eventually(t, "the end of the request", func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.entries[path[len(root):]].holder == nil
		})
		w.restart(t, patient)
		if got := w.sender().head(t, path); got.offset() != w.arrived(path) {
			t.Errorf("%s: %+v, %d bytes arrived", what, got, w.arrived(path))
		}
	}
}

// deadlines notes the last deadline that was set for an answer.
type deadlines struct {
	*httptest.ResponseRecorder
	write time.Time
}

func (d *deadlines) SetReadDeadline(time.Time) error { return nil }

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.write = at
	return nil
}

// The library sets deadlines on the connection, which the next answer on it may outlive:
// a stream's, say.
func TestNoDeadlineIsLeftOnTheConnection(t *testing.T) {
	w := build(t, nil)
	r := httptest.NewRequest("OPTIONS", root, nil)
	d := &deadlines{httptest.NewRecorder(), time.Now()}
	w.ServeHTTP(d, r)
	if d.Code != 200 || !d.write.IsZero() {
		t.Errorf("%d, until %v", d.Code, d.write)
	}
}

func TestTheEndOfTheStationEndsRequests(t *testing.T) {
	w := build(t, nil)
	stop := testkit.Background(t, w.Run)
	path := w.sender().create(t, 9000)
	_, ended := begin(t, w, path, song(4000))
	stop()
	if got := testkit.Receive(t, "the request's end", ended); got.Status != 503 && got.Status != 0 {
		t.Errorf("%+v", got)
	}
	if got := w.sender().head(t, path); got.Status != 503 {
		t.Errorf("%+v", got)
	}
	w.restart(t, w.opts)
	if got := w.sender().head(t, path); got.offset() != 4000 {
		t.Errorf("%+v", got)
	}
}
