package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/bus/bustest"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/edge"
	"github.com/athir-radio/athir/internal/web/socket/sockettest"
)

// moderation is a station's chat in two parts, as control planes and an edge on
// another machine have it: over a real bus, on a real database.
type moderation struct {
	t    *testing.T
	cfg  *config.Config
	log  *slog.Logger
	db   *store.DB
	bus  *bus.Bus // the control plane's
	edge *httptest.Server
}

// presides is a control plane. Once it is dead it tells nothing of what it has put on
// disk: it was killed before it could.
type presides struct {
	*chat.Chat
	dead atomic.Bool
	stop func()
}

func moderated(t *testing.T) *moderation {
	m := &moderation{t: t, log: slog.New(slog.DiscardHandler)}
	var err error
	m.cfg, _, err = config.Load(config.Source{DataDir: t.TempDir()})
	must(t, err)
	m.db, err = store.Open(t.Context(), m.cfg.Database())
	must(t, err)
	t.Cleanup(func() { _ = m.db.Close() })
	inside, err := bus.Embed(bus.EmbedOptions{Log: m.log, Host: "127.0.0.1", Admit: bustest.Admit("token")})
	must(t, err)
	t.Cleanup(inside.Close)
	join := func(name string) *bus.Bus {
		b, err := bus.Connect(bus.Options{Log: m.log, URL: inside.URL(), Name: name, Login: bus.Login{Token: "token"}})
		must(t, err)
		t.Cleanup(b.Close)
		return b
	}
	m.bus = join("control")
	away := join("edge")
	mirror := events.NewFollower(m.log, away)
	e := edge.New(edge.Options{
		Log: m.log, Source: mirror, Desk: edge.Remote{Bus: away, Refused: api.Refused}, Refused: api.Refused,
		Staff: func(string, string, bool) (people.Caller, error) { return people.Caller{}, nil }, Present: func(edge.Presence) {},
	})
	m.edge = httptest.NewServer(e.Handler())
	m.run(mirror.Run, e.Run)
	return m
}

// run runs what ends with the test, or before.
func (m *moderation) run(all ...func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, run := range all {
		running.Go(func() {
			if err := run(ctx); err != nil {
				m.t.Error(err)
			}
		})
	}
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	m.t.Cleanup(stop)
	return stop
}

func (m *moderation) preside() *presides {
	m.t.Helper()
	p, hub := &presides{}, newHub(m.log)
	var err error
	p.Chat, err = openChat(m.t.Context(), m.cfg, m.log, m.db, func(event string, payload any) {
		if !p.dead.Load() {
			hub.Tell(event, payload)
		}
	}, nil)
	must(m.t, err)
	desk := edge.NewStation(edge.StationOptions{Hub: hub, Chat: p.Chat, Refused: api.Refused})
	p.stop = m.run(func(ctx context.Context) error {
		return edge.Server{Log: m.log, Bus: m.bus, Hub: hub, Desk: desk, Records: desk, Present: edge.NewAttendance(hub.Tell), Refused: api.Refused}.Run(ctx)
	})
	return p
}

// says has the staff say something in the room.
func (p *presides) says(t *testing.T, text string) {
	t.Helper()
	_, err := p.Say(t.Context(), chat.Client{Staff: true}, chat.SayIn{User: "المذيع", Room: "main", Text: text})
	must(t, err)
}

// wrote is something that a device has written.
func (p *presides) wrote(t *testing.T, device string) string {
	t.Helper()
	said, err := p.Say(t.Context(), chat.Client{Device: device}, chat.SayIn{User: device, Room: "main", Text: "ها ها"})
	must(t, err)
	return said.ID
}

// enter connects a device over the edge and joins the room.
func (m *moderation) enter(device string) *sockettest.Client {
	m.t.Helper()
	var c *sockettest.Client
	m.eventually(device+" is connected", func() (ok bool) {
		var err error
		c, err = sockettest.Dial(m.t.Context(), m.edge.URL, map[string]string{"device": device})
		return err == nil
	})
	m.t.Cleanup(c.Close)
	m.eventually(device+" is in the room", func() bool { return strings.HasPrefix(m.joins(c), `{"ok":true`) })
	return c
}

func (m *moderation) joins(c *sockettest.Client) string {
	m.t.Helper()
	got, err := c.Ask(m.t.Context(), "join", map[string]string{"name": "سلمى", "room": "main"})
	must(m.t, err)
	return string(got)
}

func (m *moderation) eventually(what string, ok func() bool) {
	m.t.Helper()
	testkit.Eventually(m.t, what, ok)
}

func hears(c *sockettest.Client, text string) bool {
	return slices.ContainsFunc(c.Heard("message"), func(p json.RawMessage) bool { return strings.Contains(string(p), text) })
}

// A control plane that dies between the commit of a ban and its event has banned
// all the same: once the next one is heard, whom it named is out of the rooms on
// every edge, before anything said since is told there. Nobody else is: not who
// shares the room, nor whom a ban named that was lifted again.
func TestABanThatWasNeverToldHoldsOnceTheStationIsBack(t *testing.T) {
	m := moderated(t)
	first := m.preside()
	spoiler, lifted, other := m.enter("device-of-spoiler"), m.enter("device-of-lifted"), m.enter("device-of-other")
	all := []*sockettest.Client{spoiler, lifted, other}
	first.says(t, "welcome")
	for _, c := range all { // the edge is in step
		m.eventually("what is said in the room", func() bool { return hears(c, "welcome") })
	}
	spam, joke := first.wrote(t, "device-of-spoiler"), first.wrote(t, "device-of-lifted")

	first.dead.Store(true)
	if _, err := first.Ban(t.Context(), chat.By{}, chat.SanctionIn{Of: spam}); err != nil {
		t.Fatal(err)
	}
	ban, err := first.Ban(t.Context(), chat.By{}, chat.SanctionIn{Of: joke})
	must(t, err)
	_, err = first.Lift(t.Context(), chat.By{}, ban.ID)
	must(t, err)
	first.says(t, "secret of the dead")
	first.stop()
	if hears(other, "secret") {
		t.Fatal("the dead has told it")
	}

	second := m.preside()
	for _, c := range []*sockettest.Client{other, lifted} {
		m.eventually("what was said before the end", func() bool { return hears(c, "secret of the dead") })
	}
	second.says(t, "secret of the living")
	for _, c := range []*sockettest.Client{other, lifted} {
		m.eventually("what is said since", func() bool { return hears(c, "secret of the living") })
	}
	// It tells before it is asked: the one begins, the other may still be beginning.
	m.eventually("the next one is asked", func() bool { return strings.HasPrefix(m.joins(other), `{"ok":true`) })
	if _, err := spoiler.Ask(t.Context(), "no such event", nil); err != nil { // what was sent before has come
		t.Fatal(err)
	}
	if hears(spoiler, "secret") {
		t.Errorf("whoever is banned hears %s", spoiler.Heard("message"))
	}
	if got := m.joins(spoiler); !strings.Contains(got, "may not take part") {
		t.Errorf("whoever is banned joins: %s", got)
	}
	if len(other.Heard(events.Banned)) > 0 {
		t.Error("a client is told who is banned")
	}
}
