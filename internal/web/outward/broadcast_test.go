package outward

import (
	"context"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/kit/webhooks"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/takeover"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// world is an air that a test plays, and what is told of it.
type world struct {
	signal.Changes
	view  atomic.Pointer[scheduler.View]
	quiet atomic.Bool // listeners are not to be told
	*Outward

	mu     sync.Mutex
	hooks  []webhooks.Message // of live broadcasts
	pushed []webpush.Notice   // of them, too
}

func (w *world) View() *scheduler.View { return w.view.Load() }

func (w *world) Queue(context.Context, webhooks.Message) error { return nil }

func (w *world) Tell(m webhooks.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hooks = append(w.hooks, m)
}

func (w *world) Notify(n webpush.Notice) {
	if n.Topic == webpush.Live {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.pushed = append(w.pushed, n)
	}
}

// heard is a marker of the engine.
func (w *world) heard(kind scheduler.Kind, title string) {
	was := w.View()
	next := &scheduler.View{OnAir: scheduler.OnAir{Kind: kind, Track: station.Track{Title: title}, StartedAt: time.Now(), Engine: "e", Seq: was.OnAir.Seq + 1}}
	if !was.OnAir.StartedAt.IsZero() {
		next.Past = append([]scheduler.OnAir{was.OnAir}, was.Past...)
	}
	w.view.Store(next)
	w.Changes.Tell()
	synctest.Wait()
}

// airs is the takeover's word that a stream has the air, ends that it has lost it.
func (w *world) airs(kind takeover.EventKind, id string) {
	w.Told(takeover.Event{
		Kind: kind, Stream: live.Stream{ID: id, Title: "title of " + id, Creator: "presenter of " + id}, Publisher: "account of " + id,
		By: "the studio", Mode: live.Replace, Why: "of the one before",
	})
	synctest.Wait()
}

func (w *world) ends(id, why, recording string) {
	w.Told(takeover.Event{
		Kind: takeover.Ended, Stream: live.Stream{ID: id, Title: "title of " + id, Creator: "presenter of " + id}, Publisher: "account of " + id,
		By: "the studio", Mode: live.Replace, Why: why, Recording: recording,
	})
	synctest.Wait()
}

// last is the newest webhook message.
func (w *world) last(t *testing.T, n int) (event string, d liveData) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.hooks) != n {
		t.Fatalf("%d messages, want %d: %+v", len(w.hooks), n, w.hooks)
	}
	return w.hooks[n-1].Event, w.hooks[n-1].Data.(liveData)
}

func inWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		w.view.Store(&scheduler.View{})
		w.Outward = New(Options{Log: slog.New(slog.DiscardHandler), Push: w, Hooks: w, Air: w, Announced: func() bool { return !w.quiet.Load() }})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); w.Run(ctx) }()
		defer func() {
			cancel()
			<-done
		}()
		synctest.Wait()
		test(t, w)
	})
}

// What the engine tells is completed by what the takeover knows: who, how, and in the end
// why, and where it is recorded, however late that comes.
func TestALiveBroadcastIsToldWithWhatTheTakeoverKnows(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.heard(scheduler.Rotation, "song")
		w.airs(takeover.Started, "a")
		w.heard(scheduler.Live, "سهرة")
		want := liveData{ID: "e/2", Name: "سهرة", Stream: "a", Title: "title of a", Presenter: "presenter of a", Account: "account of a", Mode: "replace", By: "the studio"}
		if event, got := w.last(t, 1); event != eventLiveStart || got != want {
			t.Errorf("%s %+v", event, got)
		}
		// The engine tells of the end before the desk says why.
		w.heard(scheduler.Rotation, "song")
		time.Sleep(time.Second)
		w.last(t, 1)
		w.ends("a", "stopped by the studio", "a.mp3")
		want.Why, want.Recording = "stopped by the studio", "a.mp3"
		if event, got := w.last(t, 2); event != eventLiveStop || got != want {
			t.Errorf("%s %+v", event, got)
		}
		// Another follows within one broadcast: the end is of that one, told before.
		w.airs(takeover.Started, "b")
		w.heard(scheduler.Live, "b")
		w.airs(takeover.Follows, "c")
		w.ends("c", "it left", "c.mp3")
		w.heard(scheduler.Rotation, "song")
		if _, got := w.last(t, 4); got.ID != "e/4" || got.Stream != "c" || got.Why != "it left" || got.Recording != "c.mp3" {
			t.Errorf("%+v", got)
		}
		// The reason never comes.
		w.airs(takeover.Started, "d")
		w.heard(scheduler.Live, "d")
		w.heard(scheduler.Rotation, "song")
		time.Sleep(endWait - time.Millisecond)
		w.last(t, 5)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if event, got := w.last(t, 6); event != eventLiveStop || got.Stream != "d" || got.Why != "" || got.Recording != "" {
			t.Errorf("%s %+v", event, got)
		}
		// A failed start in between is nobody's end, and what reaches the engine without the
		// desk is told of as what it is.
		w.ends("d", "stopped", "")
		w.Told(takeover.Event{Kind: takeover.Failed, Stream: live.Stream{ID: "e"}, Why: "no audio"})
		w.heard(scheduler.Live, "direct")
		w.heard(scheduler.Rotation, "song")
		if event, got := w.last(t, 8); event != eventLiveStop || got != (liveData{ID: "e/8", Name: "direct"}) {
			t.Errorf("%s %+v", event, got)
		}
	})
}

// Webhooks are told of every broadcast, listeners of those that are for them. One that was
// on before this process began is another's to tell of.
func TestListenersAreToldOfBroadcastsThatAreForThem(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.heard(scheduler.Rotation, "song")
		w.heard(scheduler.Live, "one")
		w.heard(scheduler.Rotation, "song")
		w.quiet.Store(true)
		w.heard(scheduler.Live, "two")
		w.heard(scheduler.Live, "a new title")
		w.quiet.Store(false)
		w.heard(scheduler.Rotation, "song")
		w.last(t, 4)
		if len(w.pushed) != 1 || w.pushed[0].Title != "one" {
			t.Errorf("pushed %+v", w.pushed)
		}
		w.heard(scheduler.Live, "three")
		other := &world{}
		other.view.Store(w.View())
		other.Outward = New(Options{Log: slog.New(slog.DiscardHandler), Push: other, Hooks: other, Air: other})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); other.Run(ctx) }()
		synctest.Wait()
		cancel()
		<-done
		if event, got := other.last(t, 1); event != eventLiveStart || got.Name != "three" || len(other.pushed) != 0 {
			t.Errorf("after a restart: %s %+v, pushed %+v", event, got, other.pushed)
		}
	})
}

// The manual names every field of a live broadcast.
func TestTheManualNamesWhatIsToldOfALiveBroadcast(t *testing.T) {
	manual, err := os.ReadFile("../../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(string(manual), "| `live.start`, `live.stop` |")
	row, _, _ = strings.Cut(row, "\n")
	for f := range reflect.TypeFor[liveData]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !strings.Contains(row, "`"+name+"`") {
			t.Errorf("docs/webhooks.md does not name %s", name)
		}
	}
}
