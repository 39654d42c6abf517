package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/bus/bustest"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/station"
)

// rack has the files of a folder.
type rack struct{ root string }

func (r rack) Rel(abs string) (string, bool) { return strings.CutPrefix(abs, r.root+"/") }
func (r rack) Path(rel string) string        { return filepath.Join(r.root, rel) }
func (r rack) Size(string) int64             { return -1 }

// A node that has one entry repeats it, so that one must not be a jingle.
func TestTheLeastOfAListHoldsASong(t *testing.T) {
	song, jingle := playlist.Item{}, playlist.Item{Type: "jingles"}
	for want, items := range [][]playlist.Item{{}, {song, jingle}, {jingle, song, song}, {jingle, jingle, song}} {
		if got := (load{items: items}).song(); got != want {
			t.Errorf("%d entries are the least of %v, want %d", got, items, want)
		}
	}
	if got := (load{items: []playlist.Item{jingle, jingle}}).song(); got != 1 {
		t.Errorf("without a song the least is %d", got)
	}
}

// The spare holds what comes next, with the media, and takes no orders. When the first node
// is gone it has the air: its engine goes on with the head of its list, and orders go to it.
// Orders to the first one are carried out by nobody else meanwhile.
func TestTheSpareHoldsTheListAndThenTheAir(t *testing.T) {
	t.Parallel()
	log, lines := testkit.Log(t)
	inside, err := bus.Embed(bus.EmbedOptions{Log: slog.New(slog.DiscardHandler), Host: "127.0.0.1", Port: testkit.Port(t), Admit: bustest.Admit("token")})
	must(t, err)
	t.Cleanup(inside.Close)
	join := func(name string) *bus.Bus {
		b, err := bus.Connect(bus.Options{Log: slog.New(slog.DiscardHandler), URL: inside.URL(), Name: name, Login: bus.Login{Token: "token"}})
		must(t, err)
		t.Cleanup(b.Close)
		return b
	}
	library, dir := t.TempDir(), t.TempDir()
	cache := filepath.Join(dir, "air")
	shelf := delivery.Shelf{Root: cache}
	var items []playlist.Item
	var there []string
	for i := range 5 {
		path := filepath.Join(library, fmt.Sprintf("%d.mp3", i))
		must(t, os.WriteFile(path, []byte("audio"), 0o600))
		info, err := os.Stat(path)
		must(t, err)
		at := shelf.Path(filepath.Base(path), path, delivery.Version(info))
		must(t, os.MkdirAll(filepath.Dir(at), 0o750))
		must(t, os.WriteFile(at, []byte("audio"), 0o600)) // it is there already: nothing is pulled here
		items, there = append(items, playlist.Item{Path: path}), append(there, at)
	}
	var gone atomic.Bool // the first node
	see := func(_ context.Context, host string) error {
		if host == "a.example" && gone.Load() {
			return errors.New("nothing answers")
		}
		return nil
	}
	control := join("control")
	testkit.Eventually(t, "the bus", control.Up)
	far := Open(t.Context(), Options{
		Log: log, Bus: control, Cache: cache, Playlist: filepath.Join(dir, "copy.m3u"), Lease: filepath.Join(dir, "holder.json"),
		Places: twoPlaces(), See: see, Rack: rack{library},
	})
	testkit.Background(t, far.Run)
	list := atomic.Pointer[[]playlist.Item]{}
	list.Store(&items)
	testkit.Background(t, func(ctx context.Context) error {
		return far.Copy.Run(ctx, func() []playlist.Item { return *list.Load() }, nil)
	})
	var entered atomic.Int32
	start := func(id string) (*countingEngine, string, func()) {
		engine, file := &countingEngine{}, filepath.Join(t.TempDir(), "main.m3u")
		return engine, file, testkit.Background(t, Orders{
			Log: log, Line: join(id), Engine: engine, Playlist: file, Cache: cache, MaxBytes: 1 << 30, Control: "http://127.0.0.1:1",
			ID: id, Name: "machine of " + id, Host: id + ".example", See: see,
			Enter: func(context.Context) error { entered.Add(1); return nil },
		}.Run)
	}
	a, firstList, stop := start("a")
	testkit.EventuallyNil(t, "the first node takes orders", func() error { return far.Engine.Skip(t.Context()) })
	b, secondList, _ := start("b")
	holds := func(want []string) func() bool {
		return func() bool {
			text, _ := os.ReadFile(secondList)
			got, err := playlist.Decode(text)
			return err == nil && slices.EqualFunc(got, want, func(i playlist.Item, path string) bool { return i.Path == path })
		}
	}
	testkit.Eventually(t, "the spare holds the list", holds(there))
	next := items[2:]
	list.Store(&next)
	testkit.Eventually(t, "it holds what is left", holds(there[2:]))
	testkit.Eventually(t, "the control plane knows", func() bool {
		s := far.Copy.State()
		return s.InPlace && s.Missing == 0 && s.Entries == 3 && s.Node == "machine of b"
	})
	// A node that is held up for longer than its term takes no order until it has asked again.
	testkit.EventuallyNil(t, "another order to the first node", func() error { return far.Engine.Skip(t.Context()) })
	text, _ := os.ReadFile(firstList)
	if first, err := playlist.Decode(text); err != nil || len(first) > 0 || b.skips.Load() != 0 {
		t.Errorf("the first node's list has %d entries, %v; the spare took %d orders", len(first), err, b.skips.Load())
	}
	spare := &Engine{bus: control, to: far.Lease.toSpare, here: func(path string) string { return path }}
	testkit.EventuallyNil(t, "an order to the spare refused", func() error {
		if err := spare.Skip(t.Context()); !errors.Is(err, station.ErrConflict) {
			return fmt.Errorf("answered %w", err)
		}
		return nil
	})

	before := a.skips.Load()
	gone.Store(true)
	stop()
	testkit.EventuallyNil(t, "the spare takes orders", func() error { return far.Engine.Skip(t.Context()) })
	testkit.Eventually(t, "the spare's engine went on", func() bool { return entered.Load() > 0 }) // beside the orders
	if a.skips.Load() != before || b.skips.Load() == 0 || entered.Load() != 1 {
		t.Errorf("orders: %d and %d; the spare's engine went on %d times", a.skips.Load()-before, b.skips.Load(), entered.Load())
	}
	if lines.Count("the spare took the air", "machine of b", "machine of a", "why=") != 1 {
		t.Error("the log does not say that the spare took the air")
	}
	if s := far.Lease.Standing(); !s.OnSpare || s.Fence != 2 || s.Took.From != "machine of a" || s.Host != "b.example" {
		t.Errorf("standing: %+v", s)
	}
}
