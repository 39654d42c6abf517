package bus_test

import (
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/bus/bustest"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// A wrong password is told in the log, once, and by Problem for as long as it is wrong:
// from the first attempt, where the server comes later, and where it changes.
func TestAWrongPasswordIsToldAtOnce(t *testing.T) {
	t.Parallel()
	const told = "the bus refuses our password"
	begin := func(t *testing.T, url string) (*bus.Bus, *testkit.Lines) {
		t.Helper()
		log, d := testkit.Log(t)
		b, err := bus.Connect(bus.Options{Log: log, URL: url, Name: t.Name(), Login: bus.Login{Token: "wrong"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		return b, d
	}
	refused := func(t *testing.T, b *bus.Bus, d *testkit.Lines) {
		t.Helper()
		testkit.Eventually(t, "the problem is told", func() bool { return strings.Contains(b.Problem(), told) && strings.Contains(d.String(), told) })
	}
	t.Run("from the first attempt", func(t *testing.T) {
		t.Parallel()
		port := testkit.Port(t)
		e := embed(t, port)
		b, d := begin(t, e.URL())
		refused(t, b, d)
		e.Close()
		right, err := bus.Embed(bus.EmbedOptions{Log: slog.New(slog.DiscardHandler), Host: "127.0.0.1", Port: port, Admit: bustest.Admit("wrong")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(right.Close)
		testkit.Eventually(t, "the bus takes it now", func() bool { return b.Up() && b.Problem() == "" && strings.Contains(d.String(), "bus connected") })
		if n := strings.Count(d.String(), told); n != 1 {
			t.Errorf("told %d times:\n%s", n, d)
		}
	})
	t.Run("the server comes later", func(t *testing.T) {
		t.Parallel()
		port := testkit.Port(t)
		b, d := begin(t, "nats://127.0.0.1:"+strconv.Itoa(port))
		if b.Problem() != "" {
			t.Errorf("a bus that may be starting: %s", b.Problem())
		}
		e := embed(t, port)
		t.Cleanup(e.Close)
		refused(t, b, d)
	})
	t.Run("the password changes", func(t *testing.T) {
		t.Parallel()
		port := testkit.Port(t)
		right, err := bus.Embed(bus.EmbedOptions{Log: slog.New(slog.DiscardHandler), Host: "127.0.0.1", Port: port, Admit: bustest.Admit("wrong")})
		if err != nil {
			t.Fatal(err)
		}
		b, d := begin(t, right.URL())
		testkit.Eventually(t, "connected", b.Up)
		right.Close()
		e := embed(t, port)
		t.Cleanup(e.Close)
		refused(t, b, d)
	})
	t.Run("in the address", func(t *testing.T) {
		t.Parallel()
		e := embed(t, 0)
		t.Cleanup(e.Close)
		log, d := testkit.Log(t)
		b, err := bus.Connect(bus.Options{Log: log, URL: strings.Replace(e.URL(), "://", "://user:s3cret@", 1), Name: t.Name()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		refused(t, b, d)
		if strings.Contains(d.String(), "s3cret") {
			t.Errorf("the log holds the password:\n%s", d)
		}
	})
}
