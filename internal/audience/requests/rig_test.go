package requests_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/requests"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// noon is when every test begins.
func noon() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

// rig is a queue over a station that a test sets.
type rig struct {
	*requests.Requests
	t     testing.TB
	file  string
	db    *store.DB
	limit requests.Limits

	mu     sync.Mutex
	now    time.Time
	tracks []station.Track
	air    requests.Air
	last   map[string]time.Time
	starts map[string][]time.Time
	gate   station.Category // the only one that airs; empty: all
	told   []requests.Told
	events []string
	plans  int
}

func song(n int) station.Track {
	return station.Track{
		Path: fmt.Sprintf("music/english/%d.mp3", n), Category: station.English, Title: fmt.Sprint("Song ", n),
		Artist: fmt.Sprint("Singer ", n), Duration: 3 * time.Minute,
	}
}

func newRig(t testing.TB) *rig { return newRigWith(t, func(*requests.Limits) {}) }

func newRigWith(t testing.TB, change func(*requests.Limits)) *rig {
	t.Helper()
	r := &rig{
		t: t, file: filepath.Join(t.TempDir(), "athir.db"), now: noon(), last: map[string]time.Time{},
		limit: requests.Limits{
			Categories: []station.Category{station.English, station.ArabicHits}, Every: 30 * time.Minute, PerDay: 5, Queue: 20,
			Rest: 3 * time.Hour, Expire: 4 * time.Hour,
		},
	}
	for n := range 100 {
		r.tracks = append(r.tracks, song(n))
	}
	change(&r.limit)
	r.open()
	return r
}

// open opens the queue, again after a stop that nobody prepared for.
func (r *rig) open() {
	r.t.Helper()
	var err error
	if r.db != nil {
		_ = r.db.Close()
	}
	if r.db, err = store.Open(r.t.Context(), r.file); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = r.db.Close() })
	r.begin()
}

// begin opens the queue on the database that is open.
func (r *rig) begin() {
	r.t.Helper()
	var err error
	r.Requests, err = requests.Open(r.t.Context(), requests.Options{
		Log: slog.New(slog.DiscardHandler), DB: r.db, Library: r, Limits: r.limit, Zone: time.UTC,
		Now: r.clock, Air: r.sight, Changed: r.Subscribe,
		Tell: func(_ string, payload any) {
			told, _ := payload.(requests.Told)
			r.lock(func() { r.told = append(r.told, told) })
		},
		Happened: func(e requests.Event, q requests.Request) {
			r.lock(func() { r.events = append(r.events, fmt.Sprint(e, " ", q.Track.Title)) })
		},
		Renew:   func(context.Context) error { r.lock(func() { r.plans++ }); return nil },
		Blocked: func(text string) bool { return text == "badger" }, Linked: func(text string) bool { return text == "spam.example" },
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) lock(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
}

func (r *rig) clock() (now time.Time) {
	r.lock(func() { now = r.now })
	return now
}

func (r *rig) pass(d time.Duration) { r.lock(func() { r.now = r.now.Add(d) }) }

func (r *rig) Tracks() ([]station.Track, bool) { return r.tracks, false }

func (r *rig) Find(path string) (station.Track, bool) {
	i := slices.IndexFunc(r.tracks, func(t station.Track) bool { return t.Path == path })
	if i < 0 {
		return station.Track{}, false
	}
	return r.tracks[i], true
}

func (r *rig) Subscribe() (<-chan struct{}, func()) { return nil, func() {} }

func (r *rig) sight() (a requests.Air) {
	r.lock(func() {
		a = r.air
		a.Heard, a.Next = slices.Clone(a.Heard), slices.Clone(a.Next)
		last, gate := r.last, r.gate
		a.ArtistGap, a.Shortest = 30*time.Minute, 45*time.Second
		a.Aired = func(path string) time.Time { return last[path] }
		starts := r.starts
		a.Starts = func(path string) []time.Time { return starts[path] }
		a.Plays = func(c station.Category, at time.Time) bool { return gate == "" || gate == c || at.Hour() == 15 }
	})
	return a
}

// plan puts tracks into the rotation, each four minutes after the one before.
func (r *rig) plan(all ...station.Track) {
	r.lock(func() {
		r.air.Next, r.air.Built = nil, r.now
		for i, t := range all {
			r.air.Next = append(r.air.Next, requests.Coming{Path: t.Path, At: r.now.Add(time.Duration(4*(i+1)) * time.Minute)})
		}
	})
}

// airs begins a track.
func (r *rig) airs(t station.Track) {
	r.lock(func() {
		r.air.Heard = append([]requests.Airing{{ID: fmt.Sprint(len(r.air.Heard)), Path: t.Path, Artist: t.Artist, At: r.now}}, r.air.Heard...)
		r.air.Next = slices.DeleteFunc(r.air.Next, func(n requests.Coming) bool { return n.Path == t.Path })
		r.last[t.Path] = r.now
	})
}

func listener(n int) requests.Client {
	return requests.Client{Address: fmt.Sprintf("203.0.113.%d", n), Device: fmt.Sprintf("device-%06d", n)}
}

func (r *rig) ask(from requests.Client, t station.Track) (requests.Request, error) {
	r.t.Helper()
	return r.Ask(r.t.Context(), from, requests.Ask{Path: t.Path, Name: "سلمى"})
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// shown is the queue in short.
func (r *rig) shown() (out []string) {
	for _, q := range r.Told().Requests {
		out = append(out, fmt.Sprint(q.Title, " ", q.Status))
	}
	return out
}

// forget begins anew on the same database, with nothing asked and nothing aired.
func (r *rig) forget() {
	r.t.Helper()
	r.must(r.db.Write(r.t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`DELETE FROM requests`)
		return err
	}))
	r.air, r.last, r.now = requests.Air{}, map[string]time.Time{}, noon()
	r.begin()
}
