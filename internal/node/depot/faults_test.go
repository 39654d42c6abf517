package depot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/node/depot"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/station"
)

// cut sends a part of a file and breaks the connection.
func cut(w http.ResponseWriter, q *http.Request, n int) bool {
	w.Header().Set("ETag", q.Header.Get("If-Match"))
	w.Header().Set("Content-Length", "400000")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(bytes.Repeat([]byte{1, 'a', 't', 'h'}, n/4))
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// A connection that breaks in the middle of a file costs what is missing of it,
// not the file; names are any bytes, and what airs may be an MP3 under another.
func TestPullGoesOnWhereTheConnectionBroke(t *testing.T) {
	r := newRig(t, nil)
	items, expect := r.put(400_000, "english/أغنية 1 & 2.mp3", "english/b\xff#%?.mp3", "ads/c d.flac")
	broken := map[string]bool{}
	var mu sync.Mutex
	r.faulty(func(w http.ResponseWriter, q *http.Request, _ int) bool {
		mu.Lock()
		first := !broken[q.URL.Query().Get("rel")]
		broken[q.URL.Query().Get("rel")] = true
		mu.Unlock()
		if first {
			r.front.ServeHTTP(&cutting{ResponseWriter: w, left: 150_000}, q)
			panic(http.ErrAbortHandler)
		}
		return false
	})
	must(t, r.push(items, expect))
	r.whole(items)
	resumed := 0
	for _, q := range r.requests() {
		if from := q.Header.Get("Range"); from != "" && from != "bytes=0-" && q.Header.Get("If-Range") != "" {
			resumed++
		}
	}
	if resumed != len(items) {
		t.Errorf("%d of %d files went on where they were", resumed, len(items))
	}
	if strings.Contains(r.log.String(), token) {
		t.Error("the log tells the token")
	}
}

// cutting lets so many bytes through.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; err == nil && c.left == 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		err = errors.New("cut")
	}
	return n, err
}

func (c *cutting) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Each fault of a file names that file, leaves the old list in place, and is
// mended by the next push.
func TestFaultOfOneFileNamesIt(t *testing.T) {
	for name, c := range map[string]struct {
		fault    func(w http.ResponseWriter, q *http.Request) bool
		attempts int
	}{
		"404": {func(w http.ResponseWriter, q *http.Request) bool {
			http.Error(w, "no", http.StatusNotFound)
			return true
		}, 1},
		"500": {func(w http.ResponseWriter, q *http.Request) bool {
			http.Error(w, "no", http.StatusInternalServerError)
			return true
		}, 3},
		"another size": {func(w http.ResponseWriter, q *http.Request) bool {
			w.Header().Set("ETag", q.Header.Get("If-Match"))
			_, _ = w.Write(make([]byte, 999))
			return true
		}, 3},
		"another version": {func(w http.ResponseWriter, q *http.Request) bool {
			w.Header().Set("ETag", `"x"`)
			_, _ = w.Write(make([]byte, 400_000))
			return true
		}, 3},
		"cut again and again": {func(w http.ResponseWriter, q *http.Request) bool { return cut(w, q, 100) }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			old, oldSizes := r.put(4000, "english/0.mp3")
			must(t, r.push(old, oldSizes))
			items, expect := r.put(400_000, "english/1.mp3", "english/2.mp3", "english/3.mp3")
			r.faulty(func(w http.ResponseWriter, q *http.Request, _ int) bool {
				return strings.Contains(q.URL.RawQuery, "2.mp3") && c.fault(w, q)
			})
			err := r.push(items, expect)
			var unusable *delivery.UnusableError
			if !errors.As(err, &unusable) || len(unusable.Items) != 1 || unusable.Items[0].Index != 1 {
				t.Fatalf("the push: %v", err)
			}
			tried := 0
			for _, q := range r.requests() {
				if strings.Contains(q.URL.RawQuery, "2.mp3") {
					tried++
				}
			}
			if tried != c.attempts {
				t.Errorf("tried %d times, want %d", tried, c.attempts)
			}
			if log := r.log.String(); !strings.Contains(log, "media sync failed") || !strings.Contains(log, "english/2.mp3") {
				t.Errorf("the log does not name the file:\n%s", log)
			}
			r.whole(old)
			r.faulty(nil)
			must(t, r.push(items, expect))
			r.whole(items)
		})
	}
}

// Over a slow line what is to be heard first must not share it: up to the first song one file
// is pulled at a time, in the order of the list.
func TestTheFirstSongIsPulledAlone(t *testing.T) {
	r := newRig(t, nil)
	jingle, expect := r.put(4000, "jingles/0.mp3")
	songs, sizes := r.put(2<<20, "english/1.mp3", "english/2.mp3", "english/3.mp3", "english/4.mp3")
	items := append(jingle, songs...)
	r.faulty(func(_ http.ResponseWriter, q *http.Request, n int) bool {
		for i, before := range items[:min(n-1, 2)] {
			if _, err := os.Stat(before.Path); err != nil {
				t.Errorf("%s is asked for, and entry %d is not there: %v", q.URL.Query().Get("rel"), i, err)
			}
		}
		return false
	})
	must(t, r.push(items, merged(expect, sizes)))
	r.whole(items)
}

// A file that changed since the list was made does not come under the old name.
func TestChangedFileGetsAnotherName(t *testing.T) {
	r := newRig(t, nil)
	items, expect := r.put(4000, "news/bulletin.mp3")
	must(t, r.push(items, expect))
	r.whole(items)
	before, err := os.ReadFile(items[0].Path)
	must(t, err)
	old, oldSizes := items, expect
	items, expect = r.put(8000, "news/bulletin.mp3")
	if items[0].Path == old[0].Path {
		t.Fatal("another content under the same name")
	}
	must(t, os.Remove(old[0].Path))
	if err := r.push(append(old, items...), merged(oldSizes, expect)); !errors.As(err, new(*delivery.UnusableError)) {
		t.Errorf("a list of what is no more: %v", err)
	}
	must(t, os.WriteFile(old[0].Path, before, 0o600)) // as the engine may still play it
	must(t, r.push(items, expect))
	r.whole(items)
	if got, err := os.ReadFile(old[0].Path); err != nil || len(got) != 4000 {
		t.Errorf("what is on air was touched: %d bytes, %v", len(got), err)
	}
}

func merged(all ...map[string]int64) map[string]int64 {
	out := map[string]int64{}
	for _, m := range all {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// The folder keeps its bound: what was wanted longest ago goes, what the last
// lists and the engine hold stays, and a list that cannot fit is refused with the
// setting's name while the old one stays.
func TestRoomIsMadeByWhatIsWantedNoMore(t *testing.T) {
	var held []string
	r := newRig(t, func(o *depot.Options) {
		o.MaxBytes = 1_000_000
		o.Held = func(context.Context) []string { return held }
	})
	var lists [][]playlist.Item
	for n := range 6 {
		items, expect := r.put(100_000, fmt.Sprintf("english/%d-a.mp3", n), fmt.Sprintf("english/%d-b.mp3", n))
		if n == 0 {
			held = []string{items[0].Path}
		}
		must(t, r.push(items, expect))
		r.whole(items)
		lists = append(lists, items)
	}
	there := func(it playlist.Item) bool { _, err := os.Stat(it.Path); return err == nil }
	if !there(lists[0][0]) {
		t.Error("what the engine holds was removed")
	}
	if there(lists[0][1]) || there(lists[1][0]) && there(lists[1][1]) {
		t.Error("nothing has gone, and there was no room")
	}
	for _, l := range lists[3:] {
		for _, it := range l {
			if !there(it) {
				t.Errorf("a file of the last lists was removed: %s", it.Path)
			}
		}
	}
	var sum int64
	_ = filepath.Walk(r.shelf.Root, func(_ string, info os.FileInfo, _ error) error {
		if info != nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	if sum > 1_000_000 {
		t.Errorf("%d bytes, at most a million", sum)
	}
	items, expect := r.put(600_000, "english/big-1.mp3", "english/big-2.mp3")
	err := r.push(items, expect)
	if !errors.Is(err, station.ErrTooLarge) || !strings.Contains(err.Error(), "node.cache_gb") || !strings.Contains(err.Error(), "english/big") {
		t.Errorf("a list that does not fit: %v", err)
	}
	r.whole(lists[5])
}

// A node that may not come in, or finds nobody, says so at once instead of
// dropping one file after another.
func TestControlPlaneOutOfReachIsNoFaultOfTheFiles(t *testing.T) {
	r := newRig(t, nil)
	old, oldSizes := r.put(4000, "english/0.mp3")
	must(t, r.push(old, oldSizes))
	var rels []string
	for n := range 30 {
		rels = append(rels, fmt.Sprintf("english/n%d.mp3", n))
	}
	items, expect := r.put(4000, rels...)
	r.faulty(func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		http.Error(w, "no", http.StatusUnauthorized)
		return true
	})
	err := r.push(items, expect)
	if err == nil || errors.As(err, new(*delivery.UnusableError)) || !strings.Contains(err.Error(), "sync_token") {
		t.Errorf("the wrong token: %v", err)
	}
	r.stop()
	r.opt.Control = "http://127.0.0.1:1"
	r.startNode()
	r.answers()
	err = r.push(items, expect)
	if err == nil || errors.As(err, new(*delivery.UnusableError)) || !strings.Contains(err.Error(), "english/n") {
		t.Errorf("nobody there: %v", err)
	}
	if strings.Contains(r.log.String()+err.Error(), token) {
		t.Error("the token is told")
	}
	r.whole(old)
}

// The bus goes away in the middle of a pull and comes back: the push goes on and
// the file is written once. A node that is killed between pull and write leaves
// the old list, and the next push needs nothing pulled again.
func TestPushOutlivesBusAndNode(t *testing.T) {
	r := newRig(t, nil)
	old, oldSizes := r.put(4000, "english/0.mp3")
	must(t, r.push(old, oldSizes))
	r.node.Timeout = 0 // an answer that was on its way when the bus went is waited for
	items, expect := r.put(400_000, "english/1.mp3", "english/2.mp3")
	away := sync.OnceFunc(func() {
		r.bus.Close()
		r.startBus()
	})
	r.faulty(func(http.ResponseWriter, *http.Request, int) bool { away(); return false })
	must(t, r.push(items, expect))
	r.whole(items)

	later, laterSizes := r.put(400_000, "english/3.mp3", "english/4.mp3")
	paths, sizes := []string{later[0].Path, later[1].Path}, []int64{400_000, 400_000}
	must(t, r.node.Fetch(t.Context(), paths, sizes))
	r.stop()
	if err := r.push(later, laterSizes); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("no node: %v", err)
	}
	if data, err := os.ReadFile(r.list); err != nil || string(data) != string(encoded(t, items)) {
		t.Errorf("the old list is gone: %v", err)
	}
	r.faulty(nil)
	r.startNode()
	r.answers()
	must(t, r.push(later, laterSizes))
	r.whole(later)
	if n := len(r.requests()); n != 0 {
		t.Errorf("%d requests for what was there", n)
	}
}

// One file that is pulled by itself is there, once, or the error says why it is not: whoever
// tries again for it is the one who logs.
func TestOneFileIsPulledOrItIsToldWhy(t *testing.T) {
	r := newRig(t, nil)
	r.put(4000, "music/bed.mp3", "music/long.mp3")
	r.opt.Remedy, r.opt.MaxBytes = "use a shorter file", 10_000
	d := depot.New(r.opt)
	t.Cleanup(d.Close)
	path := func(rel string) string { return r.shelf.Path(rel, rel, delivery.AnyVersion) }
	for range 2 {
		must(t, d.Pull(t.Context(), path("music/bed.mp3")))
	}
	if info, err := os.Stat(path("music/bed.mp3")); err != nil || info.Size() != 4000 {
		t.Errorf("pulled: %v, %v", info, err)
	}
	if n := len(r.requests()); n != 1 {
		t.Errorf("asked for %d times", n)
	}
	if err := d.Pull(t.Context(), path("music/none.mp3")); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("a file that is none: %v", err)
	}
	if err := d.Pull(t.Context(), "/etc/passwd-"); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("outside of the folder: %v", err)
	}
	r.put(20_000, "music/long.mp3")
	if err := d.Pull(t.Context(), path("music/long.mp3")); !errors.Is(err, station.ErrTooLarge) || !strings.Contains(err.Error(), "use a shorter file") {
		t.Errorf("a file that does not fit: %v", err)
	}
	if strings.Contains(r.log.String(), "WARN") || strings.Contains(r.log.String(), "ERROR") {
		t.Errorf("logged: %s", r.log)
	}
}
