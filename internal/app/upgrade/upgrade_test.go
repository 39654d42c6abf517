package upgrade_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/app/upgrade"
	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/kit/reexec"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// house is a station whose roles the test plays.
type house struct {
	*testing.T
	sockets, program string
	next             string // identity of the program

	mu     sync.Mutex
	orders []string // role and what was ordered, in their order
	roles  map[string]*played
}

// played is a role; its program is "old" at first.
type played struct {
	state role.State
	busy  int  // orders that it refuses for it is busy; Now overrides
	sick  bool // it goes back
}

func open(t *testing.T, names ...string) *house {
	t.Helper()
	// A socket's path is short, and the name of a test may be long.
	dir, err := os.MkdirTemp("", "athir-upgrade-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := &house{T: t, sockets: dir, program: filepath.Join(dir, "new"), roles: map[string]*played{}}
	if err := os.WriteFile(h.program, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(h.program)
	if err != nil {
		t.Fatal(err)
	}
	h.next = role.Identity(f)
	_ = f.Close()
	for i, name := range names {
		h.roles[name] = &played{state: role.State{
			Role: name, Version: "1", Step: reexec.Step, Program: "old", PID: 1000 + i, Began: time.Unix(1, 0), Settled: true,
		}}
		mux := http.NewServeMux()
		mux.HandleFunc("GET /role", func(w http.ResponseWriter, _ *http.Request) {
			h.mu.Lock()
			defer h.mu.Unlock()
			innerhttp.Answer(w, h.roles[name].state)
		})
		mux.HandleFunc("POST /replace", func(w http.ResponseWriter, r *http.Request) {
			var order role.Replace
			if innerhttp.Read(w, r, 1<<10, &order) {
				h.replace(w, name, order)
			}
		})
		testkit.Background(t, func(ctx context.Context) error {
			if err := innerhttp.Serve(ctx, role.Socket(dir, name), mux, nil); ctx.Err() == nil {
				return err
			}
			return nil
		})
		testkit.EventuallyNil(t, name+" answers", func() error {
			c := role.NewClient(dir, name)
			defer c.Close()
			_, err := c.State(t.Context())
			return err
		})
	}
	return h
}

func (h *house) replace(w http.ResponseWriter, name string, order role.Replace) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.roles[name]
	if p.busy > 0 && !order.Now {
		p.busy--
		h.orders = append(h.orders, name+" busy")
		innerhttp.Refuse(w, fmt.Errorf("%s: a presenter is live: %w", name, station.ErrConflict))
		return
	}
	innerhttp.Answer(w, p.state)
	p.state.Began = p.state.Began.Add(time.Second)
	switch {
	case p.sick:
		h.orders = append(h.orders, name+" sick")
	case order.Program == h.program:
		p.state.Program, p.state.Version = h.next, "2"
		h.orders = append(h.orders, name)
	default:
		p.state.Program, p.state.Version = order.Identity, "1"
		h.orders = append(h.orders, name+" "+order.Program)
	}
}

func (h *house) run(o upgrade.Options) ([]string, error) {
	o.Sockets, o.Program, o.Version = h.sockets, h.program, "2"
	steps, err := upgrade.Run(h.Context(), o)
	var out []string
	for _, s := range steps {
		out = append(out, s.Role+" "+s.Outcome)
	}
	return out, err
}

func (h *house) check(what string, got, want []string) {
	h.Helper()
	if !slices.Equal(got, want) {
		h.Errorf("%s: %q, want %q", what, got, want)
	}
}

// Fails where the supervisor does not come last, a role that is there is ordered again, or
// one that does not run stops the others.
func TestRolesAreUpgradedInOrder(t *testing.T) {
	h := open(t, "station", "relay", "player", "chat", "desk")
	h.roles["chat"].state.Program = h.next
	if err := os.WriteFile(role.Socket(h.sockets, "whip"), nil, 0o600); err != nil { // of one that was killed
		t.Fatal(err)
	}
	var begun []string
	steps, err := h.run(upgrade.Options{Show: func(s upgrade.Step) {
		if s.Outcome == "" {
			begun = append(begun, s.Role)
		}
	}})
	if err != nil {
		t.Error(err)
	}
	h.check("steps", steps, []string{"player upgraded", "chat already there", "relay upgraded", "desk upgraded", "station upgraded"})
	h.check("begun", begun, []string{"player", "relay", "desk", "station"})
	h.check("orders", h.orders, begun)
}

// Fails where a busy role is cut off, stops the upgrade, or is not asked again while there
// is time; and where Now does not override.
func TestABusyRoleIsWaitedForLeftOrCutOff(t *testing.T) {
	for _, c := range []struct {
		options       upgrade.Options
		busy          int
		steps, orders []string
	}{
		{upgrade.Options{}, 9, []string{"desk busy", "station upgraded"}, []string{"desk busy", "station"}},
		{upgrade.Options{Wait: time.Hour}, 1, []string{"desk upgraded", "station upgraded"}, []string{"desk busy", "desk", "station"}},
		{upgrade.Options{Now: true}, 9, []string{"desk upgraded", "station upgraded"}, []string{"desk", "station"}},
	} {
		h := open(t, "desk", "station")
		h.roles["desk"].busy = c.busy
		steps, err := h.run(c.options)
		if err != nil {
			t.Error(err)
		}
		h.check("steps", steps, c.steps)
		h.check("orders", h.orders, c.orders)
	}
}

// Fails where roles stay on two versions once one was not well, or return in an order in
// which none is left that still is the old program.
func TestWhereOneIsNotWellThoseDoneReturnInReverse(t *testing.T) {
	h := open(t, "player", "chat", "relay", "desk", "station")
	h.roles["chat"].state.Program = h.next
	h.roles["desk"].sick = true
	steps, err := h.run(upgrade.Options{})
	if !errors.Is(err, upgrade.ErrWentBack) || !strings.HasPrefix(err.Error(), "desk: ") {
		t.Error(err)
	}
	h.check("steps", steps, []string{"player upgraded", "chat already there", "relay upgraded", "desk went back", "desk returned", "relay returned", "player returned"})
	old := fmt.Sprintf(" /proc/%d/exe", h.roles["station"].state.PID)
	h.check("orders", h.orders, []string{"player", "relay", "desk sick", "relay" + old, "player" + old})
}

// Fails where a station is upgraded in part whose other part cannot follow.
func TestARoleMoreThanOneStepAwayIsNamedBeforeAnyIsOrdered(t *testing.T) {
	h := open(t, "player", "desk", "station")
	h.roles["desk"].state.Step = reexec.Step + 2
	_, err := h.run(upgrade.Options{})
	if err == nil || !strings.Contains(err.Error(), "desk is version 1, which is more than one step away from 2: upgrade to a version between them first") || strings.Contains(err.Error(), "player") {
		t.Error(err)
	}
	h.check("orders", h.orders, nil)
}

// Fails where a laggard is not ordered, or one that went back is ordered again and again, or
// a busy one is given up.
func TestLaggardsFollowOnceAndTheBusyWhenTheyAreFree(t *testing.T) {
	h := open(t, "player", "desk", "chat", "relay")
	h.roles["desk"].busy = 1
	h.roles["chat"].sick = true
	h.roles["relay"].state.Program = "of another build"
	if err := (upgrade.Follow{Log: slog.New(slog.DiscardHandler), Sockets: h.sockets, From: "old", Program: h.program}).Run(t.Context()); err != nil {
		t.Error(err)
	}
	h.check("orders", h.orders, []string{"player", "chat sick", "desk busy", "desk"})
}

// Fails where a supervisor that read its settings anew has all roles begin anew, itself
// among them: each of them does the same again, without end.
func TestNobodyFollowsAReload(t *testing.T) {
	h := open(t, "player", "control", "station")
	for _, p := range h.roles {
		p.state.Program = h.next
	}
	if err := (upgrade.Follow{Log: slog.New(slog.DiscardHandler), Sockets: h.sockets, From: h.next, Program: h.program}).Run(t.Context()); err != nil {
		t.Error(err)
	}
	h.check("orders", h.orders, nil)
}
