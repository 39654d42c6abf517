package webhooks_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/kit/webhooks"
)

// TestMain doubles as the child that a test kills.
func TestMain(m *testing.M) {
	if path := os.Getenv("WEBHOOKS_TEST_DB"); path != "" {
		queueForEver(path)
		return
	}
	testkit.Main(m)
}

// queueForEver queues numbers, sends them meanwhile, and prints each number once
// it is queued.
func queueForEver(path string) {
	ctx := context.Background()
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	db, err := store.Open(ctx, path)
	fail(err)
	o := roomy(db)
	o.Log = slog.New(slog.DiscardHandler)
	h, err := webhooks.Open(ctx, o)
	fail(err)
	go func() { _ = h.Run(ctx) }()
	for i := 0; ; i++ {
		n := os.Getenv("WEBHOOKS_TEST_LIFE") + "." + fmt.Sprint(i)
		fail(h.Queue(ctx, webhooks.Message{Event: "door.open", Data: n}))
		fmt.Println(n)
	}
}

// roomy are options under which no message is dropped to make room: a child
// queues until it is killed, however long that takes.
func roomy(db *store.DB) webhooks.Options {
	o := options(db)
	o.MostWaiting = 1 << 20
	return o
}

func TestKilledWhileQueueingAndSendingLosesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "athir.db")
	x := receive(t, nil)
	db, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	k := add(t, open(t, roomy(db)), x.URL, "*")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	queued := map[string]bool{}
	for life := range 4 {
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), "WEBHOOKS_TEST_DB="+path, "WEBHOOKS_TEST_LIFE="+fmt.Sprint(life))
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; n < 15+7*life && lines.Scan(); n++ {
			queued[lines.Text()] = true
		}
		_ = child.Process.Kill() // SIGKILL
		for lines.Scan() {
			queued[lines.Text()] = true // it was queued before the kill
		}
		_ = child.Wait()
	}
	if len(queued) < 60 {
		t.Fatalf("only %d messages queued", len(queued))
	}
	db, err = store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	h := open(t, roomy(db))
	running(t, h)
	states(t, h, k.ID)
	ids := map[string]string{}
	for _, g := range x.got() {
		n := strings.Trim(string(g.Data), `"`)
		if other, again := ids[n]; again && other != g.id {
			t.Errorf("%s under two ids", n)
		}
		ids[n] = g.id
		if !g.signedBy(k.Secret) {
			t.Errorf("not signed: %+v", g)
		}
	}
	for n := range queued {
		if ids[n] == "" {
			t.Errorf("%s was queued and never came", n)
		}
	}
	t.Logf("%d messages queued in 4 lives, %d received, %d of them distinct", len(queued), len(x.got()), len(ids))
}

// pinned is a sender to whom every name leads to one address.
func pinned(to func() net.IP) *fetch.Client {
	return fetch.New(fetch.Options{Version: "test", Resolver: resolver(to)})
}

type resolver func() net.IP

func (r resolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	a, _ := netip.AddrFromSlice(r())
	return []netip.Addr{a.Unmap()}, nil
}
