package bus_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/bus/bustest"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const token = "only for this test"

func embed(t *testing.T, port int) *bus.Embedded {
	t.Helper()
	e, err := bus.Embed(bus.EmbedOptions{Log: slog.New(slog.DiscardHandler), Host: "127.0.0.1", Port: port, Admit: bustest.Admit(token)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func connect(t *testing.T, url, token string) *bus.Bus {
	t.Helper()
	b, err := bus.Connect(bus.Options{Log: slog.New(slog.DiscardHandler), URL: url, Name: t.Name(), Login: bus.Login{Token: token}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// serve echoes in a goroutine that ends with the test.
func serve(t *testing.T, b *bus.Bus, fn func([]byte) []byte) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		if err := b.Serve(ctx, "echo", 4, func(_ context.Context, in []byte) []byte { return fn(in) }); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); done.Wait() })
}

func echo(in []byte) []byte { return append([]byte("so: "), in[:min(len(in), 100)]...) }

func TestRequestsAndEventsFromOneProcessToAnother(t *testing.T) {
	t.Parallel()
	e := embed(t, 0)
	defer e.Close()
	control, edge := connect(t, e.URL(), token), connect(t, e.URL(), token)
	testkit.Eventually(t, "both connected", func() bool { return control.Up() && edge.Up() })

	if _, err := edge.Request(t.Context(), "echo", []byte("x")); !errors.Is(err, bus.ErrUnreachable) {
		t.Errorf("nobody serves: %v", err)
	}
	serve(t, control, echo)
	testkit.Eventually(t, "an answer", func() bool {
		got, err := edge.Request(t.Context(), "echo", []byte("مرحبا"))
		return err == nil && string(got) == "so: مرحبا"
	})

	got := make(chan string, 1000)
	cancel, err := edge.Subscribe("news", func(m []byte) { got <- string(m) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := edge.Request(t.Context(), "echo", nil); err != nil { // the subscription is at the server
		t.Fatal(err)
	}
	for i := range 1000 {
		if err := control.Publish("news", []byte(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 1000 {
		if m := <-got; m != strconv.Itoa(i) {
			t.Fatalf("%s arrives as number %d", m, i)
		}
	}
	cancel()

	if _, err := edge.Subscribe("slow", func([]byte) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := edge.Request(t.Context(), "echo", nil); err != nil { // the subscription is at the server
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := control.Request(ctx, "slow", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an answer that does not come: %v", err)
	}
}

// A voice note is longer than a message of a server that nobody has configured.
func TestLongRequestsGoInPartsAndInterleave(t *testing.T) {
	t.Parallel()
	e := embed(t, 0)
	defer e.Close()
	control, one, two := connect(t, e.URL(), token), connect(t, e.URL(), token), connect(t, e.URL(), token)
	serve(t, control, func(in []byte) []byte { return in[:16] })
	testkit.Eventually(t, "all connected", func() bool {
		_, err := one.Request(t.Context(), "echo", make([]byte, 16))
		return err == nil && two.Up()
	})
	var all sync.WaitGroup
	for _, b := range []*bus.Bus{one, two} {
		for _, size := range []int{600 << 10, 3 << 20, bus.MostBytes} {
			all.Go(func() {
				data := make([]byte, size)
				_, _ = rand.Read(data)
				got, err := asked(t, b, data)
				if err != nil || !bytes.Equal(got, data[:16]) {
					t.Errorf("%d bytes: %v", size, err)
				}
			})
		}
	}
	all.Wait()
	if _, err := one.Request(t.Context(), "echo", make([]byte, bus.MostBytes+1)); err == nil {
		t.Error("too long a request is sent")
	}
	if _, err := one.Request(t.Context(), "nobody", make([]byte, 1<<20)); !errors.Is(err, bus.ErrUnreachable) {
		t.Errorf("in parts to nobody: %v", err)
	}
}

// asked asks until there is an answer, as callers do: what a starved machine delays for too
// long is dropped.
func asked(t *testing.T, b *bus.Bus, data []byte) (got []byte, err error) {
	for range 5 {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		got, err = b.Request(ctx, "echo", data)
		if stop(); !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	return got, err
}

// Fails where one who asks too much keeps the others out: by requests that are never whole,
// and by more than can be answered.
func TestWhoAsksTooMuchKeepsNoOtherOut(t *testing.T) {
	t.Parallel()
	e := embed(t, 0)
	defer e.Close()
	control, well := connect(t, e.URL(), token), connect(t, e.URL(), token)
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	defer done.Wait()
	defer cancel()
	held := make(chan struct{}, 8)
	done.Go(func() {
		if err := control.Serve(ctx, "ask.*", 4, func(ctx context.Context, in []byte) []byte {
			if string(in) == "hold" {
				held <- struct{}{}
				<-ctx.Done()
			}
			return in[:4]
		}); err != nil {
			t.Error(err)
		}
	})
	testkit.Eventually(t, "all connected", func() bool {
		_, err := well.Request(t.Context(), "ask.well", []byte("text"))
		return err == nil
	})
	raw, err := nats.Connect(e.URL(), nats.Token(token), nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	for i := range 100 { // that are never whole
		m := nats.NewMsg("ask.rude")
		m.Header.Set("Athir-Request", strconv.Itoa(i))
		m.Header.Set("Athir-Part", "0 2")
		if err := raw.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	for range 3000 {
		if err := raw.Publish("ask.rude", []byte("hold")); err != nil {
			t.Fatal(err)
		}
	}
	if err := raw.Flush(); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		testkit.Receive(t, "all its places are taken", held)
	}
	for _, size := range []int{4, 2 << 20} {
		testkit.EventuallyNil(t, "the other is answered", func() error {
			within, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := well.Request(within, "ask.well", make([]byte, size))
			return err
		})
	}
}

// Fails where long requests that are not answered yet fill the memory.
func TestWhatWaitsAtOneSubjectIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	e := embed(t, 0)
	defer e.Close()
	control, asker := connect(t, e.URL(), token), connect(t, e.URL(), token)
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	defer done.Wait()
	defer cancel()
	release := make(chan struct{})
	var begun atomic.Int32
	done.Go(func() {
		if err := control.Serve(ctx, "ask.*", 1000, func(ctx context.Context, in []byte) []byte {
			if len(in) > 9 {
				begun.Add(1)
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
			return []byte("well")
		}); err != nil {
			t.Error(err)
		}
	})
	answered := func(subject string, size int) {
		t.Helper()
		testkit.EventuallyNil(t, "an answer", func() error {
			within, cancel := context.WithTimeout(t.Context(), time.Second) // what has no room gets none
			defer cancel()
			_, err := asker.Request(within, subject, make([]byte, size))
			return err
		})
	}
	answered("ask.other", 1)
	for range 300 {
		if err := asker.Publish("ask.long", make([]byte, 512<<10)); err != nil {
			t.Fatal(err)
		}
		answered("ask.other", 1) // so that it has arrived
	}
	testkit.Eventually(t, "as many are begun as there is room for", func() bool { return begun.Load() >= 256 })
	close(release)
	answered("ask.long", 1) // there is room again, and what had none is gone
	if n := begun.Load(); n != 256 {
		t.Errorf("%d requests of 512 KiB were held at once", n)
	}
	answered("ask.long", 1<<20)
}

func TestBusThatDiesAndComesBack(t *testing.T) {
	t.Parallel()
	port := testkit.Port(t)
	e := embed(t, port)
	control, edge := connect(t, e.URL(), token), connect(t, e.URL(), token)
	serve(t, control, echo)
	news := make(chan string, 10)
	if _, err := edge.Subscribe("news", func(m []byte) { news <- string(m) }); err != nil {
		t.Fatal(err)
	}
	answers := func() bool {
		got, err := edge.Request(t.Context(), "echo", []byte("a"))
		return err == nil && string(got) == "so: a"
	}
	testkit.Eventually(t, "an answer", answers)
	for range 3 {
		before := edge.Connections()
		changed, cancel := edge.Changes()
		e.Close()
		<-changed
		testkit.Eventually(t, "the loss noticed", func() bool { return !edge.Up() && !control.Up() })
		if _, err := edge.Request(t.Context(), "echo", nil); !errors.Is(err, bus.ErrUnreachable) {
			t.Errorf("while it is away: %v", err)
		}
		e = embed(t, port)
		testkit.Eventually(t, "an answer after it is back", answers)
		if edge.Connections() != before+1 {
			t.Errorf("%d connections after %d", edge.Connections(), before)
		}
		cancel()
		if err := control.Publish("news", []byte("back")); err != nil {
			t.Fatal(err)
		}
		if m := <-news; m != "back" {
			t.Errorf("%q", m)
		}
	}
	e.Close()
}

func TestBusWantsItsToken(t *testing.T) {
	t.Parallel()
	if _, err := bus.Embed(bus.EmbedOptions{Log: slog.New(slog.DiscardHandler), Host: "127.0.0.1"}); err == nil {
		t.Error("a bus without a token")
	}
	e := embed(t, 0)
	defer e.Close()
	good, bad, none := connect(t, e.URL(), token), connect(t, e.URL(), "another"), connect(t, e.URL(), "")
	testkit.Eventually(t, "the right one connected", good.Up)
	for range 20 { // the others try again and again
		if _, err := good.Request(t.Context(), "nobody", nil); !errors.Is(err, bus.ErrUnreachable) {
			t.Fatal(err)
		}
		if bad.Up() || none.Up() {
			t.Fatal("somebody is let in without the token")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// A server that does not know us is asked again and again: its operator may put
// the token right.
func TestAWrongTokenIsNotTheEnd(t *testing.T) {
	t.Parallel()
	port := testkit.Port(t)
	other, err := bus.Embed(bus.EmbedOptions{Log: slog.New(slog.DiscardHandler), Host: "127.0.0.1", Port: port, Admit: bustest.Admit("another")})
	if err != nil {
		t.Fatal(err)
	}
	var refused atomic.Int32
	log := slog.New(slog.NewTextHandler(counting{&refused}, nil))
	b, err := bus.Connect(bus.Options{Log: log, URL: other.URL(), Name: t.Name(), Login: bus.Login{Token: "another"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	testkit.Eventually(t, "the first connection", b.Up)
	other.Close()
	wrong := embed(t, port)
	refused.Store(0)
	testkit.Eventually(t, "refused more than twice", func() bool { return refused.Load() > 3 })
	wrong.Close()
	other, err = bus.Embed(bus.EmbedOptions{Log: slog.New(slog.DiscardHandler), Host: "127.0.0.1", Port: port, Admit: bustest.Admit("another")})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	testkit.Eventually(t, "back", b.Up)
}

// counting counts the lines that are written.
type counting struct{ lines *atomic.Int32 }

func (c counting) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("uthorization")) {
		c.lines.Add(1)
	}
	return len(p), nil
}

func TestAPanicOfOneRequestIsItsOwn(t *testing.T) {
	t.Parallel()
	e := embed(t, 0)
	defer e.Close()
	b := connect(t, e.URL(), token)
	serve(t, b, func(in []byte) []byte {
		if string(in) == "fault" {
			panic("a fault of ours")
		}
		return echo(in)
	})
	testkit.Eventually(t, "an answer", func() bool {
		_, err := b.Request(t.Context(), "echo", []byte("x"))
		return err == nil
	})
	if got, err := b.Request(t.Context(), "echo", []byte("fault")); err != nil || len(got) != 0 {
		t.Errorf("%q %v", got, err)
	}
	if got, err := b.Request(t.Context(), "echo", []byte("x")); err != nil || string(got) != "so: x" {
		t.Errorf("afterwards: %q %v", got, err)
	}
}
