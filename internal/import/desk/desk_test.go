package desk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/import/apply"
	"github.com/athir-radio/athir/internal/import/desk"
	"github.com/athir-radio/athir/internal/import/importtest"
	"github.com/athir-radio/athir/internal/import/origin"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// rig is a desk before a station.
type rig struct {
	*desk.Desk
	station *importtest.Station
	dir     string
	opt     desk.Options
}

func newRig(t *testing.T, change ...func(*desk.Options)) *rig {
	t.Helper()
	r := &rig{station: importtest.NewStation(t), dir: filepath.Join(t.TempDir(), "imports")}
	r.opt = desk.Options{
		Dir: r.dir, Log: slog.New(slog.DiscardHandler), Fetch: origin.Client("test", []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, "content.networks"),
		Station: func() apply.Station { return apply.Station{Base: r.station.URL, Key: importtest.StationKey} },
		Space:   func(string) (free, size uint64, err error) { return 1 << 40, 1 << 40, nil },
	}
	for _, c := range change {
		c(&r.opt)
	}
	r.open(t)
	return r
}

func (r *rig) open(t *testing.T) {
	t.Helper()
	r.Desk = desk.Open(r.opt)
}

func (r *rig) keep(t *testing.T, name string, data []byte) string {
	t.Helper()
	f, err := r.Keep(name, int64(len(data)), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return f.ID
}

// uploads are the names in the folder of uploads.
func (r *rig) uploads(t *testing.T) (out []string) {
	t.Helper()
	all, err := os.ReadDir(filepath.Join(r.dir, "uploads"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		out = append(out, e.Name())
	}
	return out
}

func backup(t *testing.T, name string, a *importtest.Azura) []byte {
	t.Helper()
	data, err := os.ReadFile(importtest.WriteBackup(t, filepath.Join(t.TempDir(), name), a.Entries(true)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func quiet(apply.Progress) {}

func TestAnUploadComesOverAndLeavesNothingBeside(t *testing.T) {
	for _, name := range []string{"b.zip", "b.tzst"} {
		r := newRig(t)
		id := r.keep(t, name, backup(t, name, importtest.NewAzura(60, 6)))
		o := desk.Order{System: desk.AzuraCast, File: id, Station: "athir"}
		p, err := r.Plan(t.Context(), o)
		if err != nil || p.Tracks.Bring != 22 || len(p.Playlists) == 0 || len(r.station.Tracks)+len(r.station.Lists) != 0 {
			t.Fatalf("%s: %v %+v", name, err, p)
		}
		var stages []string
		done, err := r.Apply(t.Context(), o, func(p apply.Progress) { stages = append(stages, string(p.Stage)) })
		if err != nil || done.Copied != 22 || len(r.station.Tracks) != 22 || len(done.Invited) != 2 || done.Counts.Not != len(done.Not) || len(stages) == 0 {
			t.Fatalf("%s: %v %+v", name, err, done)
		}
		if left := r.uploads(t); len(left) != 2 { // the file and what is said of it
			t.Errorf("%s: %q are left", name, left)
		}
		text, err := json.Marshal([]any{p, done})
		if s := r.Secrets(); err != nil || len(s.Invited) != 2 || len(s.Webhooks) == 0 || bytes.Contains(text, []byte(s.Invited[0].Token)) || bytes.Contains(text, []byte("/hook")) || bytes.Contains(text, []byte("--media")) {
			t.Errorf("%s: %+v in %s", name, s, text)
		}
	}
}

func TestAJobThatIsCancelledLeavesNoFolderAndGoesOnLater(t *testing.T) {
	r := newRig(t)
	data := backup(t, "b.tzst", importtest.NewAzura(10, 1))
	ctx, stop := context.WithCancel(t.Context())
	r.station.OnArrival = stop
	o := desk.Order{System: desk.AzuraCast, File: r.keep(t, "b.tzst", data), Station: "athir"}
	done, err := r.Apply(ctx, o, quiet)
	if !errors.Is(err, context.Canceled) || !done.Stopped || done.Problem != nil {
		t.Fatalf("%v %+v", err, done)
	}
	if _, err := r.Plan(ctx, o); err == nil || strings.Contains(err.Error(), o.File) {
		t.Errorf("%v", err) // where a file lies is nobody's concern
	}
	if left := r.uploads(t); len(left) != 2 {
		t.Errorf("%q are left", left)
	}
	if err := r.Remove(o.File); err != nil {
		t.Fatal(err)
	}
	// Sent again it is the same source: what had arrived is not uploaded twice.
	r.station.OnArrival = nil
	o.File = r.keep(t, "again.tzst", data)
	if _, err := r.Apply(t.Context(), o, quiet); err != nil || len(r.station.Tracks) != 22 || len(r.station.Arrivals) != 22 {
		t.Errorf("%v: %d tracks, %d files", err, len(r.station.Tracks), len(r.station.Arrivals))
	}
}

func TestSeveralStationsAreNamed(t *testing.T) {
	r := newRig(t)
	id := r.keep(t, "b.zip", backup(t, "b.zip", importtest.NewAzura(3, 0)))
	p, err := r.Plan(t.Context(), desk.Order{System: desk.AzuraCast, File: id})
	if err == nil || len(p.Others) != 2 || p.Problem == nil || strings.Contains(err.Error(), "--") {
		t.Errorf("%v %+v", err, p)
	}
}

// What a source answers wrongly is said in both languages, and without keys, flags and paths.
func TestWhatIsWrongIsSaidInBothLanguages(t *testing.T) {
	const key = "the-key-that-nobody-may-see"
	a := importtest.NewAzura(3, 0)
	server, nothing := a.Serve(t), httptest.NewServer(nil)
	leads := httptest.NewServer(http.RedirectHandler(server.URL+"/api/station/1/files", http.StatusFound))
	t.Cleanup(leads.Close)
	away := httptest.NewServer(nil)
	away.Close()
	t.Cleanup(nothing.Close)
	r := newRig(t)
	closed := newRig(t, func(o *desk.Options) { o.Fetch = origin.Client("test", nil, "content.networks") })
	dump := r.keep(t, "notes.txt", []byte("these are no tracks"))
	for _, c := range []struct {
		desk  *rig
		order desk.Order
		code  string
		kind  error
		has   string
	}{
		{r, desk.Order{System: desk.AzuraCast, File: dump}, "file", station.ErrInvalid, "notes.txt"},
		{r, desk.Order{System: desk.LibreTime, File: dump}, "file", station.ErrInvalid, "notes.txt"},
		{r, desk.Order{System: desk.AzuraCast, Address: server.URL, Key: key, Station: "athir"}, "key", station.ErrInvalid, ""},
		{r, desk.Order{System: desk.AzuraCast, Address: leads.URL, Key: key, Station: "athir"}, "moved", station.ErrInvalid, server.URL},
		{r, desk.Order{System: desk.LibreTime, Address: leads.URL, Key: key}, "moved", station.ErrInvalid, server.URL},
		{r, desk.Order{System: desk.AzuraCast, Address: nothing.URL, Key: key}, "answer", station.ErrInvalid, ""},
		{r, desk.Order{System: desk.LibreTime, Address: nothing.URL, User: "admin", Password: key}, "answer", station.ErrInvalid, ""},
		{r, desk.Order{System: desk.AzuraCast, Address: away.URL, Key: key}, "unreachable", station.ErrUnavailable, ""},
		{closed, desk.Order{System: desk.AzuraCast, Address: server.URL, Key: key}, "blocked", station.ErrInvalid, "content.networks"},
		{r, desk.Order{System: desk.AzuraCast, Address: server.URL + "/ ", Key: importtest.Key + "\n", Station: "none"}, "station", station.ErrInvalid, "none"},
	} {
		done, err := c.desk.Apply(t.Context(), c.order, quiet)
		var f *desk.Failure
		if !errors.As(err, &f) || f.Code != c.code || !errors.Is(err, c.kind) || f.Ar == "" || f.Ar == f.En || done.Problem == nil || !done.Stopped {
			t.Errorf("%+v: %+v %v", c.order, done, err)
			continue
		}
		for _, secret := range []string{key, importtest.Key, dump, r.dir, "--station", "--api-key", "--user"} {
			if strings.Contains(err.Error()+f.Ar, secret) {
				t.Errorf("%q tells %s", err, secret)
			}
		}
		if !strings.Contains(err.Error(), c.has) {
			t.Errorf("%q does not say %s", err, c.has)
		}
	}
	// Nor is a key in what is kept on the disk.
	for _, d := range []*rig{r, closed} {
		_ = filepath.WalkDir(d.dir, func(path string, e os.DirEntry, err error) error {
			if text, failed := os.ReadFile(path); err == nil && failed == nil && (bytes.Contains(text, []byte(key)) || bytes.Contains(text, []byte(importtest.Key))) {
				t.Errorf("%s has a key", path)
			}
			return nil
		})
	}
}

func TestAFileThatCannotBeKeptLeavesNothing(t *testing.T) {
	free := uint64(1 << 40)
	r := newRig(t, func(o *desk.Options) {
		o.Most = 100
		o.Space = func(string) (uint64, uint64, error) { return free, 1 << 40, nil }
	})
	for _, c := range []struct {
		name string
		size int64
		body io.Reader
		free uint64
		kind error
	}{
		{"it says that it is too large", 101, strings.NewReader(""), 1 << 40, station.ErrTooLarge},
		{"it is too large", -1, strings.NewReader(strings.Repeat("x", 101)), 1 << 40, station.ErrTooLarge},
		{"it is cut off", 50, strings.NewReader("x"), 1 << 40, station.ErrInvalid},
		{"it is empty", 0, strings.NewReader(""), 1 << 40, station.ErrInvalid},
		{"its sender goes away", -1, io.MultiReader(strings.NewReader("x"), broken{}), 1 << 40, station.ErrInvalid},
		{"the disk is nearly full", 50, strings.NewReader(strings.Repeat("x", 50)), 1 << 30, station.ErrFull},
	} {
		free = c.free
		if _, err := r.Keep("x", c.size, c.body); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", c.name, err)
		}
		if left := r.uploads(t); len(left) > 0 {
			t.Errorf("%s: %q are left", c.name, left)
		}
	}
	free = 1 << 40
	if f, err := r.Keep(`C:\Users\نور\‮backup.zip`, 100, strings.NewReader(strings.Repeat("x", 100))); err != nil || f.Name != "backup.zip" {
		t.Errorf("%+v %v", f, err)
	}
}

// A folder that cannot be used is no reason for a station not to start; once it can be, imports go.
func TestADeskWithoutItsFolderRefusesUntilItIsThere(t *testing.T) {
	var said bytes.Buffer
	r := newRig(t, func(o *desk.Options) {
		o.Log = slog.New(slog.NewTextHandler(&said, nil))
		if err := os.WriteFile(o.Dir, []byte("a file in its place"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	o := desk.Order{System: desk.AzuraCast, Address: "https://example.org", Key: "a key"}
	_, kept := r.Keep("x", -1, strings.NewReader("x"))
	_, planned := r.Plan(t.Context(), o)
	_, applied := r.Apply(t.Context(), o, quiet)
	for _, err := range []error{kept, planned, applied, r.Check(o), r.Remove("x")} {
		var f *desk.Failure
		if !errors.As(err, &f) || !errors.Is(err, station.ErrUnavailable) || f.Ar == "" || strings.Contains(f.En+f.Ar, r.dir) {
			t.Errorf("%v", err)
		}
	}
	if !strings.Contains(said.String(), r.dir) {
		t.Errorf("the log does not say where: %q", said.String())
	}
	if err := os.Remove(r.dir); err != nil {
		t.Fatal(err)
	}
	if err := r.Check(o); err != nil {
		t.Error(err)
	}
	r.keep(t, "x", []byte("x"))
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestTheOldestMakesRoomForTheFifth(t *testing.T) {
	now := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	r := newRig(t, func(o *desk.Options) { o.Now = func() time.Time { now = now.Add(time.Second); return now } })
	var ids []string
	for i := range 5 {
		ids = append(ids, r.keep(t, fmt.Sprint(i), []byte("a file")))
	}
	if err := r.Check(desk.Order{System: desk.AzuraCast, File: ids[0]}); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("the oldest: %v", err)
	}
	// The others are there after a restart, too, and what a kill left unfinished is not.
	dir := filepath.Join(r.dir, "uploads")
	for _, name := range []string{"X.part", "files-1/y", "Z", "Z.json", ids[1] + ".part"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("{}"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	r.open(t)
	for _, id := range ids[1:] {
		if err := r.Check(desk.Order{System: desk.AzuraCast, File: id}); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if left := r.uploads(t); len(left) != 8 {
		t.Errorf("%q are left", left)
	}
}

// ticking is a clock that a test moves, and the looks of Run at it.
type ticking struct {
	mu    sync.Mutex
	now   time.Time
	looks chan time.Duration
	done  chan struct{}
}

func (c *ticking) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// wait ends a look, and begins the next once the test has moved the clock.
func (c *ticking) wait(ctx context.Context, _ time.Duration) bool {
	select {
	case c.done <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	select {
	case by := <-c.looks:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.now = c.now.Add(by)
		return true
	case <-ctx.Done():
		return false
	}
}

// A clock that jumps a year ahead removes nothing; a day that passes does.
func TestUploadsGoAfterADayOfASteadyClock(t *testing.T) {
	c := &ticking{now: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC), looks: make(chan time.Duration), done: make(chan struct{})}
	r := newRig(t, func(o *desk.Options) { o.Now, o.Wait = c.time, c.wait })
	id := r.keep(t, "a", []byte("a file"))
	there := func() bool { return r.Check(desk.Order{System: desk.AzuraCast, File: id}) == nil }
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { _ = r.Run(ctx) })
	t.Cleanup(func() { cancel(); all.Wait() })
	<-c.done
	look := func(by time.Duration) { c.looks <- by; <-c.done }
	for range 23 {
		look(time.Hour)
	}
	if !there() {
		t.Fatal("it is gone before a day is over")
	}
	look(365 * 24 * time.Hour)
	if !there() {
		t.Fatal("it is gone because the clock was set")
	}
	look(time.Hour)
	if there() || len(r.uploads(t)) != 0 {
		t.Errorf("it is kept: %q", r.uploads(t))
	}
}

// What is being imported is not taken away.
func TestAFileInUseStays(t *testing.T) {
	r := newRig(t)
	id := r.keep(t, "b.zip", backup(t, "b.zip", importtest.NewAzura(10, 1)))
	var once sync.Once
	r.station.OnArrival = func() {
		once.Do(func() {
			if err := r.Remove(id); !errors.Is(err, station.ErrConflict) {
				t.Errorf("%v", err)
			}
			for i := range 5 {
				if _, err := r.Keep(fmt.Sprint(i), 1, strings.NewReader("x")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if done, err := r.Apply(t.Context(), desk.Order{System: desk.AzuraCast, File: id, Station: "athir"}, quiet); err != nil || done.Copied != 22 {
		t.Errorf("%v %+v", err, done)
	}
	if err := r.Remove(id); err != nil {
		t.Error(err)
	}
	if err := r.Remove(id); !errors.Is(err, station.ErrNotFound) {
		t.Error(err)
	}
}
