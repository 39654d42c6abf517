package onbus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/remote"
	"github.com/athir-radio/athir/internal/web/edge"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// settings are those of a control plane whose bus is inside.
func settings(t *testing.T, env ...string) *config.Config {
	t.Helper()
	env = append(env, "SYNC_TOKEN=shared")
	cfg, _, err := config.Load(config.Source{DataDir: t.TempDir(), Controls: true, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Ports.NATS = testkit.Port(t)
	return cfg
}

// user is how somebody comes to a bus.
type user struct {
	url   string
	login bus.Login
	more  []nats.Option
}

func (u user) dial(t *testing.T) *nats.Conn {
	t.Helper()
	opts := append(slices.Clone(u.more), nats.NoReconnect(), nats.Timeout(time.Minute), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if u.login.User != "" {
		opts = append(opts, nats.UserInfo(u.login.User, u.login.Password))
	} else {
		opts = append(opts, nats.Token(u.login.Token))
	}
	conn, err := nats.Connect(u.url, opts...)
	if err != nil {
		t.Fatalf("%s: %v", u.login.User, err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// may does one thing on a connection of its own and reports whether the server allowed it.
func (u user) may(t *testing.T, do func(*nats.Conn) error) bool {
	t.Helper()
	conn := u.dial(t)
	defer conn.Close()
	if err := errors.Join(do(conn), conn.FlushTimeout(time.Minute)); err != nil { // the server refuses before it answers the flush
		t.Fatal(err)
	}
	err := conn.LastError()
	if err != nil && !errors.Is(err, nats.ErrPermissionViolation) {
		t.Fatal(err)
	}
	return err == nil
}

// subjects are all of the station's, and what an attacker would try.
func subjects() []string {
	out := []string{
		edge.SubjectAsk, edge.SubjectPresent, "athir.ask.cairo-2", "athir.ask.giza", "athir.present.cairo-2", "athir.present.giza",
		events.SubjectEvents, events.SubjectSync, "athir.ask.*", "athir.present.*", "athir.node.>", "athir.>", ">", "athir.new", "elsewhere",
		"_INBOX.>", "_INBOX.control.x", "_INBOX.node.x", "_INBOX.chat.x", "_INBOX.edge.cairo-2.x", "_INBOX.edge.giza.x", "_INBOX.edge.>",
		"$SYS.>", "$SYS.REQ.SERVER.PING", "$JS.API.INFO",
	}
	return slices.Concat(out, remote.NodeServes(), remote.NodeAsks())
}

// The rights of each user, by the names of subjects. Fails where somebody may do more, or
// less, than is written here: on the bus inside, and on a server of the operator's own with
// the settings that we ship.
func TestEachRoleMayDoItsOwnWorkAndNothingElse(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	line, end, err := Open(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	testkit.Eventually(t, "the control plane is connected", line.Up)
	credential, err := cfg.EdgeCredential("cairo-2")
	if err != nil {
		t.Fatal(err)
	}
	_, secret, _ := strings.Cut(credential, ":")
	login := func(role string) user {
		name, password, _ := cfg.BusLogin(role)
		return user{url: cfg.BusURL(), login: bus.Login{User: name, Password: password}}
	}
	outside, trusts := ownServer(t, secret)
	own := func(name, password string) user {
		return user{outside, bus.Login{User: name, Password: password}, []nats.Option{trusts}}
	}
	node := rights{publish: []string{"athir.node.lease"}, subscribe: append(remote.NodeServes(), "_INBOX.node.x")}
	named := rights{
		publish:   []string{"athir.ask.cairo-2", "athir.present.cairo-2", "athir.events.sync"},
		subscribe: []string{"athir.events", "_INBOX.edge.cairo-2.x"},
	}
	for name, c := range map[string]struct {
		user
		rights
	}{
		"node": {login(config.BusNode), node},
		"an edge with the sync_token": {login(config.BusChat), rights{
			publish: []string{"athir.ask", "athir.present", "athir.events.sync"}, subscribe: []string{"athir.events", "_INBOX.chat.x"},
		}},
		"a named edge":             {user{url: cfg.BusURL(), login: bus.Login{User: "edge.cairo-2", Password: secret}}, named},
		"node, own server":         {own("node", "NODE_PASSWORD"), node},
		"a named edge, own server": {own("edge.cairo-2", secret), named},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, subject := range subjects() {
				if !strings.ContainsAny(subject, "*>") {
					got := c.may(t, func(conn *nats.Conn) error { return conn.Publish(subject, []byte("x")) })
					if want := slices.Contains(c.publish, subject); got != want {
						t.Errorf("may publish %s: %t", subject, got)
					}
				}
				got := c.may(t, func(conn *nats.Conn) error { _, err := conn.SubscribeSync(subject); return err })
				if want := slices.Contains(c.subscribe, subject); got != want {
					t.Errorf("may subscribe to %s: %t", subject, got)
				}
			}
		})
	}
}

type rights struct{ publish, subscribe []string }

// ownServer runs a server with the settings that we ship, of which only what stands in
// capitals is changed.
func ownServer(t *testing.T, secret string) (url string, trusts nats.Option) {
	t.Helper()
	dir := t.TempDir()
	cert, key := testkit.Certificate(t, dir, "localhost")
	text, err := os.ReadFile("../../../deploy/nats/nats-server.conf")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(testkit.Port(t))
	for old, now := range map[string]string{
		"/etc/nats/CERT.pem": cert, "/etc/nats/KEY.pem": key, "PASSWORD_OF_ITS_CREDENTIAL": secret, `host: "0.0.0.0"`: `host: "127.0.0.1"`, "port: 4222": "port: " + port,
	} {
		if !bytes.Contains(text, []byte(old)) {
			t.Fatalf("the settings have no %s", old)
		}
		text = bytes.ReplaceAll(text, []byte(old), []byte(now))
	}
	path := filepath.Join(dir, "nats-server.conf")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	opts, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatal(err)
	}
	opts.NoSigs, opts.NoLog = true, true
	srv, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	if !srv.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not listen")
	}
	return "tls://localhost:" + port, nats.RootCAs(cert)
}

// What the roles do with these rights works: long requests both ways, answers, reports.
func TestTheRolesReachEachOther(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	log := slog.New(slog.DiscardHandler)
	control, end, err := Open(cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	join := func(user, password, token string) *bus.Bus {
		b, err := bus.Connect(bus.Options{Log: log, URL: cfg.BusURL(), Name: user, Login: bus.Login{User: user, Password: password, Token: token}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		testkit.Eventually(t, "connected: "+user, b.Up)
		return b
	}
	credential, _ := cfg.EdgeCredential("cairo-2")
	name, password, _ := strings.Cut(credential, ":")
	node, chat, guest, before := join(cfg.BusLogin(config.BusNode)), join(cfg.BusLogin(config.BusChat)), join(name, password, ""), join("", "", cfg.BusToken())

	long := bytes.Repeat([]byte("x"), 3<<20)
	length := func(_ context.Context, in []byte) []byte { return fmt.Append(nil, len(in)) }
	for by, subjects := range map[*bus.Bus][]string{
		control: {edge.SubjectAsk, edge.Of(edge.SubjectAsk, "*"), events.SubjectSync, remote.NodeAsks()[0]},
		node:    {remote.NodeServes()[0]},
	} {
		for _, subject := range subjects {
			testkit.Background(t, func(ctx context.Context) error { return by.Serve(ctx, subject, 4, length) })
		}
	}
	for _, ask := range []struct {
		from    *bus.Bus
		subject string
	}{
		{control, remote.NodeServes()[0]},
		{node, remote.NodeAsks()[0]},
		{chat, edge.SubjectAsk}, {chat, events.SubjectSync},
		{guest, "athir.ask.cairo-2"}, {guest, events.SubjectSync},
		{before, edge.SubjectAsk}, {before, remote.NodeAsks()[0]},
	} {
		testkit.EventuallyNil(t, ask.subject, func() error { // it is served
			_, err := ask.from.Request(t.Context(), ask.subject, nil)
			return err
		})
		got, err := ask.from.Request(t.Context(), ask.subject, long)
		if err != nil || string(got) != fmt.Sprint(len(long)) {
			t.Errorf("%s: %.20q %v", ask.subject, got, err)
		}
	}
}

// An edge has no say but its own, whatever it claims. Fails where its word makes somebody
// staff, tries keys, or counts listeners for another edge; and where the name of a refused
// edge, or a wrong password, is let in.
func TestAnEdgeSpeaksForItsListenersAlone(t *testing.T) {
	t.Parallel()
	cfg := settings(t, "ATHIR_BUS_REFUSED=giza")
	log := slog.New(slog.DiscardHandler)
	control, end, err := Open(cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	var sum edge.Presence
	told := make(chan edge.Presence, 16)
	present := edge.NewAttendance(func(_ string, payload any) { told <- payload.(edge.Presence) })
	d := &desk{}
	hub := events.NewHub(log, "test")
	testkit.Background(t, edge.Server{
		Log: log, Bus: control, Hub: hub, Desk: d, Present: present,
		Refused: func(err error) json.RawMessage { return fmt.Appendf(nil, `{"ok":false,"error":%q}`, err) },
	}.Run)
	join := func(credential string) *bus.Bus {
		t.Helper()
		name, password, _ := strings.Cut(credential, ":")
		b, err := bus.Connect(bus.Options{Log: log, URL: cfg.BusURL(), Name: name, Login: bus.Login{User: name, Password: password}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		return b
	}
	credential, _ := cfg.EdgeCredential("cairo-2")
	b := join(credential)
	testkit.Eventually(t, "the edge is connected", b.Up)
	ask := func(event string, staff bool) string {
		data, _ := json.Marshal(edge.Ask{Event: event, From: edge.Client{Address: "192.0.2.1", Staff: staff}, Body: json.RawMessage(`{"key":"guess"}`)})
		var got []byte
		testkit.EventuallyNil(t, "an answer", func() (err error) {
			got, err = b.Request(t.Context(), "athir.ask.cairo-2", data)
			return err
		})
		return string(got)
	}
	if got := ask("send_comment", false); !strings.Contains(got, `"ok":true`) {
		t.Errorf("a comment: %s", got)
	}
	for event, staff := range map[string]bool{"send_comment": true, "operator": false, "start_stream": false, "audio_data": false, "stop_stream": false} {
		if got := ask(event, staff); !strings.Contains(got, `"ok":false`) {
			t.Errorf("%s, staff %t: %s", event, staff, got)
		}
	}
	if got := d.done(); !slices.Equal(got, []string{"send_comment"}) {
		t.Errorf("carried out: %q", got)
	}

	edge.TellPresence(b, "cairo-2", "control", edge.Presence{Clients: 3}, edge.HLS{Listeners: 2, Bytes: 1000, Crowd: census.Crowd{Devices: map[string]int{"iphone": 2}}}) // in the control plane's own name
	present.Heard("control", edge.Presence{Clients: 4})
	for sum.Clients != 7 {
		sum = testkit.Receive(t, "both are counted", told)
	}
	if ids, sent, crowd := present.HLS(); len(ids) != 2 || sent != 1000 || crowd.Devices["iphone"] != 2 || crowd.Countries["ZZ"] != 2 {
		t.Errorf("listeners of HLS at the edge: %q, %d bytes", ids, sent)
	}
	refused, _ := cfg.EdgeCredential("giza")
	for _, wrong := range []string{refused, "edge.cairo-2:guess", "edge.giza:" + strings.TrimPrefix(credential, "edge.cairo-2:"), "control:guess", "control:", "somebody:" + cfg.BusToken()} {
		b := join(wrong)
		testkit.Eventually(t, "refused: "+wrong, func() bool { return b.Problem() != "" || b.Up() })
		if b.Up() || cfg.AdmitsEdge(wrong) {
			t.Errorf("let in: %s", wrong)
		}
	}
	if !cfg.AdmitsEdge(credential) || !cfg.AdmitsEdge(cfg.BusToken()) || cfg.AdmitsEdge("") {
		t.Error("who may vouch for addresses")
	}
}
