package depot_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/bus/bustest"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/node/depot"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/delivery/deliverytest"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const token = "sesame"

// rig is a control plane's files and HTTP, a bus, and a node with a depot.
type rig struct {
	t       *testing.T
	library string // of the control plane
	front   http.Handler
	url     string
	shelf   delivery.Shelf
	list    string // the node's playlist file
	busPort int
	bus     *bus.Embedded
	node    *delivery.Remote
	log     *testkit.Lines
	opt     depot.Options
	stop    func() // of the node

	mu    sync.Mutex
	asked []*http.Request
	fault func(w http.ResponseWriter, r *http.Request, n int) bool // takes the n-th request
}

func newRig(t *testing.T, change func(*depot.Options)) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, library: filepath.Join(dir, "library"), shelf: delivery.Shelf{Root: filepath.Join(dir, "node", "air")}, list: filepath.Join(dir, "node", "main.m3u")}
	must(t, os.MkdirAll(r.library, 0o755))
	must(t, os.MkdirAll(filepath.Dir(r.list), 0o755))
	log, lines := testkit.Log(t)
	r.log = lines
	surface := api.New(api.Options{
		Log: log, Zone: time.UTC, SyncToken: secret.Of(token), HLSPrefix: "/hls/", HLS: http.NotFoundHandler(), Pages: http.NotFoundHandler(),
		Air: func() *scheduler.View { return &scheduler.View{} }, Library: func() *media.Snapshot { return &media.Snapshot{} },
		Files: api.Files{Media: r.library, Air: func(rel string) (string, string, bool) { return r.library, rel, true }},
	}).Handler()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		r.asked = append(r.asked, q.Clone(context.WithoutCancel(q.Context())))
		n, fault := len(r.asked), r.fault
		r.mu.Unlock()
		if fault == nil || !fault(w, q, n) {
			surface.ServeHTTP(w, q)
		}
	}))
	t.Cleanup(srv.Close)
	r.url, r.front = srv.URL, surface
	r.busPort = testkit.Port(t)
	r.startBus()
	t.Cleanup(func() { r.bus.Close() })
	r.opt = depot.Options{
		Log: log, Playlist: r.list, Dir: r.shelf.Root, Control: srv.URL, Token: secret.Of(token), MaxBytes: 1 << 30, Reserve: 1, Pause: time.Millisecond,
	}
	if change != nil {
		change(&r.opt)
	}
	r.startNode()
	t.Cleanup(func() { r.stop() })
	b := r.connect()
	t.Cleanup(b.Close)
	r.node = delivery.NewRemote(b, delivery.Plainly)
	r.node.Timeout = time.Minute // the air's patience would be a bound on this machine's time
	r.answers()
	return r
}

func (r *rig) startBus() {
	r.t.Helper()
	var err error
	r.bus, err = bus.Embed(bus.EmbedOptions{Log: slog.New(slog.DiscardHandler), Host: "127.0.0.1", Port: r.busPort, Admit: bustest.Admit(token)})
	must(r.t, err)
}

func (r *rig) connect() *bus.Bus {
	r.t.Helper()
	b, err := bus.Connect(bus.Options{Log: slog.New(slog.DiscardHandler), URL: fmt.Sprintf("nats://127.0.0.1:%d", r.busPort), Name: "test", Login: bus.Login{Token: token}})
	must(r.t, err)
	return b
}

// startNode runs the node's side until stop.
func (r *rig) startNode() {
	r.t.Helper()
	d := depot.New(r.opt)
	must(r.t, d.Prepare(r.t.Context()))
	b := r.connect()
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		if err := delivery.NewOrders(d, r.opt.Log).Run(ctx, b, delivery.Plainly); err != nil {
			r.t.Error(err)
		}
	})
	r.stop = sync.OnceFunc(func() {
		cancel()
		done.Wait()
		b.Close()
		d.Close()
	})
}

// answers waits until the node is reached.
func (r *rig) answers() {
	r.t.Helper()
	testkit.EventuallyNil(r.t, "an answer of the node", func() error {
		_, err := r.node.ReadBack(r.t.Context())
		return err
	})
}

func (r *rig) faulty(fault func(w http.ResponseWriter, q *http.Request, n int) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked, r.fault = nil, fault
}

func (r *rig) requests() []*http.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

// put makes files of the library and returns what a list would say of them.
func (r *rig) put(size int, rels ...string) (items []playlist.Item, expect map[string]int64) {
	r.t.Helper()
	expect = map[string]int64{}
	for i, rel := range rels {
		path := filepath.Join(r.library, rel)
		must(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
		data := bytes.Repeat([]byte{byte(i), 'a', 't', 'h'}, size/4)
		must(r.t, os.WriteFile(path, data, 0o600))
		info, err := os.Stat(path)
		must(r.t, err)
		name := r.shelf.Path(rel, path, delivery.Version(info))
		items, expect[name] = append(items, playlist.ItemFor(name, station.English)), info.Size()
	}
	return items, expect
}

func (r *rig) push(items []playlist.Item, expect map[string]int64) error {
	d := delivery.New(r.node, func(path string) int64 { return expect[path] }, r.opt.Log)
	_, err := d.Push(r.t.Context(), items)
	return err
}

// whole fails unless the node has these very files, and the list of them.
func (r *rig) whole(items []playlist.Item) {
	r.t.Helper()
	for _, it := range items {
		rel, _, _ := r.shelf.Rel(it.Path)
		want, err := os.ReadFile(filepath.Join(r.library, rel))
		must(r.t, err)
		if got, err := os.ReadFile(it.Path); err != nil || !bytes.Equal(got, want) {
			r.t.Errorf("%s: %d bytes of %d, or others: %v", rel, len(got), len(want), err)
		}
	}
	if data, err := os.ReadFile(r.list); err != nil || !bytes.Equal(data, encoded(r.t, items)) {
		r.t.Errorf("the list in place is another one: %v", err)
	}
	if !strings.Contains(r.log.String(), "Rotation verified on remote") {
		r.t.Error("not logged: Rotation verified on remote")
	}
}

func encoded(t *testing.T, items []playlist.Item) []byte {
	t.Helper()
	data, _, err := playlist.Encode(items)
	must(t, err)
	return data
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRemoteConformsOverBusAndHTTP(t *testing.T) {
	deliverytest.Run(t, func(t *testing.T) deliverytest.Fixture {
		r := newRig(t, nil)
		return deliverytest.Fixture{Node: r.node, Playlist: r.list, Library: r.library, Media: r.shelf.Root + "/" + delivery.AnyVersion}
	})
}
