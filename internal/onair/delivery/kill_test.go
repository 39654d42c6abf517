package delivery_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/delivery/deliverytest"
	"github.com/athir-radio/athir/internal/onair/playlist"
)

// TestMain doubles as the writer process that a test kills, and as the process
// that fills a disk of its own.
func TestMain(m *testing.M) {
	if path := os.Getenv("DELIVERY_TEST_WRITER"); path != "" {
		writer(path)
		return
	}
	if dir := os.Getenv("DELIVERY_TEST_FULL_DISK"); dir != "" {
		testkit.Told(func() error { return fullDiskStory(context.Background(), dir) })
	}
	testkit.Main(m)
}

// Pushes, half on a disk and half in memory, every tenth cut short by a SIGKILL at
// a random moment or just when the file begins to change: one modify event for
// each completed push, at most one for a killed one, one inode, and whoever reads
// meanwhile gets the old or the new list whole.
func TestPushesWithRandomKills(t *testing.T) { pushAndKill(t, 60) }

func pushAndKill(t *testing.T, pushes int) {
	t.Helper()
	shm, err := os.MkdirTemp("/dev/shm", "athir-delivery-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(shm) })
	for name, dir := range map[string]string{"disk": t.TempDir(), "memory": shm} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, dir)
			h.run(t, pushes)
			t.Logf("pushes %d, completed %d, killed %d: without an event %d, new list in place %d, torn %d (each put right by Prepare)",
				h.pushes, h.completed, h.killed, h.silent, h.landed, h.torn)
			t.Logf("reads %d, all whole; torn reads without the journal's help %d", h.reads.Load(), h.rawTorn.Load())
			if h.completed+h.killed != pushes || h.killed != pushes/10 || h.reads.Load() < int64(pushes) {
				t.Errorf("the test did not test")
			}
		})
	}
}

// harness drives writer processes over one playlist file. List numbers only grow.
type harness struct {
	path  string
	watch *deliverytest.Watch
	rng   *rand.Rand
	page  []byte // the file's first page, as mapped memory

	floor, ceil    atomic.Int64 // lists that a reader may see now
	reads, rawTorn atomic.Int64

	pushes, completed, killed, silent, landed, torn int
	typical                                         time.Duration // of a completed push
}

func newHarness(t *testing.T, dir string) *harness {
	h := &harness{path: filepath.Join(dir, "main.m3u"), typical: time.Millisecond}
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number will do
	t.Logf("seed %d", seed)
	h.rng = rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // no secret
	for digit := range byte(8) {
		path := mediaFile(h.path, digit)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, []byte("x"))
	}
	if err := prepared(t, h.path).Write(t.Context(), encoded(t, numbered(h.path, 0))); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(h.path)
	if err != nil {
		t.Fatal(err)
	}
	h.page, err = syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ, syscall.MAP_SHARED) //nolint:gosec // a descriptor fits an int
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(h.page) })
	h.watch = deliverytest.NewWatch(t, h.path)
	return h
}

func (h *harness) run(t *testing.T, pushes int) {
	ctx, stop := context.WithCancel(t.Context())
	var reader sync.WaitGroup
	reader.Go(func() { h.read(ctx, t) })
	defer reader.Wait()
	defer stop()

	before := inode(t, h.path)
	for h.pushes < pushes && !t.Failed() {
		h.oneWriter(t, pushes)
	}
	if after := inode(t, h.path); after != before {
		t.Errorf("inode was %d, is %d", before, after)
	}
}

// oneWriter lets a process push until it is killed or all is done.
func (h *harness) oneWriter(t *testing.T, pushes int) {
	events := h.watch.Modified(t)
	torn := !whole(t, h.path)
	w := startWriter(t, h.path)
	defer w.end()
	// It has run Prepare, which rewrites a torn list and touches no other.
	repaired := h.watch.Modified(t) - events
	if want := map[bool]int{true: 1}[torn]; repaired != want || !whole(t, h.path) {
		t.Errorf("torn %t: %d modify events from Prepare", torn, repaired)
	}
	if torn {
		h.torn++
	}
	h.settle(t)
	for h.pushes < pushes {
		h.pushes++
		for before := h.reads.Load(); h.reads.Load() == before && !t.Failed(); { // somebody reads all the time
			runtime.Gosched()
		}
		n, events := h.ceil.Add(1), h.watch.Modified(t)
		kill := h.pushes%10 == 0
		begin := time.Now()
		fmt.Fprintln(w.in, n)
		if kill {
			h.kill(t, w, n, events)
			return
		}
		if line := w.line(); line != fmt.Sprint("done ", n) {
			t.Fatalf("writer says %q", line)
		}
		h.typical = (9*h.typical + time.Since(begin)) / 10
		h.completed++
		h.floor.Store(n)
		if got := h.watch.Modified(t) - events; got != 1 {
			t.Errorf("push %d: %d modify events", n, got)
		}
	}
}

// kill ends the writer somewhere inside its push and looks at what it left.
func (h *harness) kill(t *testing.T, w *writerProcess, n int64, events int) {
	h.await(h.rng.IntN(2) == 0)
	w.kill()
	h.killed++
	got := h.watch.Modified(t) - events
	if got > 1 {
		t.Errorf("killed push %d: %d modify events", n, got)
	}
	if got == 0 {
		h.silent++
	}
	h.settle(t)
	if h.floor.Load() == n {
		h.landed++
	}
}

// await returns at a random moment of a push or, when aimed, as soon as the
// header changes. Busy, because a timer is too coarse to land inside a write.
func (h *harness) await(aimed bool) {
	until := time.Now().Add(time.Duration(h.rng.Int64N(int64(h.typical))))
	if aimed {
		until = time.Now().Add(10 * h.typical)
	}
	const sum = 40 // an offset inside the header's checksum
	before := [8]byte(h.page[sum:])
	for time.Now().Before(until) && (!aimed || [8]byte(h.page[sum:]) == before) {
		continue
	}
}

// settle asks which list is in place, now that nobody writes.
func (h *harness) settle(t *testing.T) {
	data, err := delivery.NewLocal(h.path, quiet()).Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n, err := number(data)
	if err != nil || n < h.floor.Load() || n > h.ceil.Load() {
		t.Fatalf("list %d in place, between %d and %d expected, %v", n, h.floor.Load(), h.ceil.Load(), err)
	}
	h.floor.Store(n)
}

// read looks at the file as fast as is polite, until the test is over.
func (h *harness) read(ctx context.Context, t *testing.T) {
	local := delivery.NewLocal(h.path, quiet())
	for ctx.Err() == nil {
		if raw, err := os.ReadFile(h.path); err != nil {
			t.Error(err)
		} else if _, err := playlist.Decode(raw); errors.Is(err, playlist.ErrTorn) {
			h.rawTorn.Add(1)
		} else if err != nil {
			t.Error(err)
		}
		floor := h.floor.Load()
		data, err := local.Current(ctx)
		if ctx.Err() != nil {
			return
		}
		n, bad := number(data)
		if ceil := h.ceil.Load(); errors.Join(err, bad) != nil || n < floor || n > ceil {
			t.Errorf("read list %d, between %d and %d expected, %v", n, floor, ceil, errors.Join(err, bad))
		}
		h.reads.Add(1)
		time.Sleep(500 * time.Microsecond)
	}
}

// writerProcess is a child that pushes list n when told n.
type writerProcess struct {
	in   io.WriteCloser
	out  *bufio.Reader
	kill func()
	end  func()
}

func (w *writerProcess) line() string {
	s, _ := w.out.ReadString('\n')
	return strings.TrimSpace(s)
}

func startWriter(t *testing.T, path string) *writerProcess {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	pid, gone := make(chan int, 1), make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(gone)
		_, err := proc.Run(ctx, proc.Spec{
			Name: "writer", Path: os.Args[0], Env: []string{"DELIVERY_TEST_WRITER=" + path},
			Stdin: inR, Stdout: outW, Stderr: os.Stderr,
		}, func(p int) { pid <- p })
		_ = errors.Join(inR.Close(), outW.Close())
		if err != nil {
			t.Error(err)
		}
	}()
	w := &writerProcess{in: inW, out: bufio.NewReader(outR)}
	w.kill = func() {
		if err := syscall.Kill(<-pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		<-gone
	}
	w.end = func() {
		cancel()
		<-gone
		_ = errors.Join(inW.Close(), outR.Close())
	}
	if line := w.line(); line != "ready" {
		w.end()
		t.Fatalf("writer says %q", line)
	}
	return w
}

// writer is the child's side.
func writer(path string) {
	ctx := context.Background()
	local := delivery.NewLocal(path, quiet())
	if err := local.Prepare(ctx); err != nil {
		fmt.Println(err)
		return
	}
	d := delivery.New(local, func(string) int64 { return 1 }, quiet())
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var n int64
		_, err := fmt.Sscan(in.Text(), &n)
		if err == nil {
			_, err = d.Push(ctx, numbered(path, n))
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("done", n)
	}
}

// numbered is a list of 120 entries over seven pages and more, in which every
// entry depends on n.
func numbered(path string, n int64) []playlist.Item {
	items := make([]playlist.Item, 120)
	for i := range items {
		items[i] = playlist.Item{Path: mediaFile(path, digitOf(n, i))}
	}
	return items
}

// digitOf spells n in the first six entries, in octal, and shifts the spelling
// in each following six.
func digitOf(n int64, entry int) byte { return byte(n>>(3*(entry%6))+int64(entry/6)) & 7 } //nolint:gosec // three bits

func mediaFile(path string, digit byte) string {
	return filepath.Join(filepath.Dir(path), strings.Repeat("d", 200), fmt.Sprint(digit))
}

// number is the inverse of numbered; a mixture of two lists is an error.
func number(data []byte) (int64, error) {
	items, err := playlist.Decode(data)
	if err != nil {
		return 0, err
	}
	var n int64
	for i := range min(6, len(items)) {
		n |= int64(items[i].Path[len(items[i].Path)-1]-'0') << (3 * i)
	}
	for i, item := range items {
		if digit := item.Path[len(item.Path)-1] - '0'; digit != digitOf(n, i) {
			return n, fmt.Errorf("entry %d is not one of list %d", i, n)
		}
	}
	return n, nil
}

func encoded(t *testing.T, items []playlist.Item) []byte {
	t.Helper()
	data, kept, err := playlist.Encode(items)
	if err != nil || kept != len(items) {
		t.Fatalf("kept %d, %v", kept, err)
	}
	return data
}

func whole(t *testing.T, path string) bool {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = playlist.Decode(data)
	return err == nil
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Ino
}
