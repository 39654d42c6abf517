package bus_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/bus/bustest"
	"github.com/athir-radio/athir/internal/kit/certificate"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// An answer goes to an inbox alone. Fails where whoever may ask could have its answer sent
// to a subject that it may not publish to, as an order.
func TestAnAnswerIsSentToNoSubjectButAnInbox(t *testing.T) {
	t.Parallel()
	e := embed(t, 0)
	t.Cleanup(e.Close)
	server := connect(t, e.URL(), token)
	serve(t, server, echo)
	conn, err := nats.Connect(e.URL(), nats.Token(token), nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	testkit.Eventually(t, "it is served", func() bool { _, err := server.Request(t.Context(), "echo", nil); return err == nil })
	orders, err := conn.SubscribeSync("orders")
	if err != nil {
		t.Fatal(err)
	}
	whole := nats.NewMsg("echo")
	whole.Reply, whole.Data = "orders", []byte("skip")
	inParts := nats.NewMsg("echo")
	inParts.Data = []byte("skip")
	inParts.Header = nats.Header{"Athir-Request": {"1"}, "Athir-Part": {"0 1"}, "Athir-Reply": {"orders"}}
	for _, m := range []*nats.Msg{whole, inParts} {
		if err := conn.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // they are answered one after another; what they had to say is at the server
		if _, err := conn.RequestWithContext(t.Context(), "echo", nil); err != nil {
			t.Fatal(err)
		}
	}
	if n, _, _ := orders.Pending(); n != 0 {
		t.Errorf("%d answers were sent to another subject", n)
	}
}

// A bus with a certificate: encrypted for those who check it, in the clear for this machine
// alone, and nobody takes another certificate for it.
func TestABusIsEncryptedForOtherMachines(t *testing.T) {
	t.Parallel()
	cert, key := testkit.Certificate(t, t.TempDir(), "localhost")
	other, _ := testkit.Certificate(t, t.TempDir(), "localhost")
	pair, err := certificate.Open(cert, key, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	e, err := bus.Embed(bus.EmbedOptions{Log: slog.New(slog.DiscardHandler), Host: "127.0.0.1", Admit: bustest.Admit(token), TLS: pair.Config()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	address := e.URL()[strings.LastIndex(e.URL(), ":"):]
	probe := func(url, ca string) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		return bus.Probe(ctx, bus.Options{URL: url, CA: ca, Login: bus.Login{Token: token}})
	}
	for name, c := range map[string]struct {
		url, ca string
		in      bool
	}{
		"encrypted":              {"tls://localhost" + address, cert, true},
		"this machine":           {"nats://127.0.0.1" + address, "", true},
		"another authority":      {"tls://localhost" + address, other, false},
		"a name that is not its": {"tls://ip6-localhost.example" + address, cert, false},
	} {
		if err := probe(c.url, c.ca); (err == nil) != c.in {
			t.Errorf("%s: %v", name, err)
		}
	}
	secure, err := nats.Connect("tls://localhost"+address, nats.Token(token), nats.RootCAs(cert), nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	defer secure.Close()
	if state, err := secure.TLSConnectionState(); err != nil || state.Version < tls.VersionTLS12 {
		t.Errorf("encrypted by %x: %v", state.Version, err)
	}
}

// A role of this version comes to a bus of the version before, which knows one token and no
// users: in an upgrade edges come before the control plane.
func TestABusOfTheVersionBeforeIsJoined(t *testing.T) {
	t.Parallel()
	srv, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, Authorization: token, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	b, err := bus.Connect(bus.Options{Log: slog.New(slog.DiscardHandler), URL: srv.ClientURL(), Name: t.Name(), Login: bus.Login{User: "chat", Password: "new", Token: token}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	serve(t, b, echo)
	testkit.Eventually(t, "an answer", func() bool {
		got, err := b.Request(t.Context(), "echo", []byte("x"))
		return err == nil && string(got) == "so: x"
	})
}
