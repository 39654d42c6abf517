package resume

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

const (
	childEnv     = "ATHIR_UPLOAD_TEST_DIR" // a server in that folder
	dieEnv       = "ATHIR_UPLOAD_TEST_DIE" // "before" or "after" the first Take
	smallDiskEnv = "ATHIR_UPLOAD_TEST_DISK"
)

// TestMain doubles as the server that tests kill, and as the story on a small disk.
func TestMain(m *testing.M) {
	if dir := os.Getenv(smallDiskEnv); dir != "" {
		testkit.Told(func() error { return onASmallDisk(dir) })
	}
	if dir := os.Getenv(childEnv); dir != "" {
		fmt.Fprintln(os.Stderr, serve(dir))
		os.Exit(1)
	}
	testkit.Main(m)
}

// serve serves until the process is killed, and prints where.
func serve(dir string) error {
	s := &shelf{dir: filepath.Join(dir, "posts")}
	die := func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }
	switch os.Getenv(dieEnv) {
	case "before":
		s.before = func() error { die(); return nil }
	case "after":
		s.after = die
	}
	u, err := Open(Options{
		Dir: filepath.Join(dir, "tus"), Base: root, Keys: testKeys(), Taker: s, Log: slog.New(slog.DiscardHandler),
		Limits: Limits{Quiet: 20 * time.Millisecond, Patience: time.Minute, Reserve: 1},
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return http.Serve(l, u)
}

// server is a child that serves.
type server struct {
	t    testing.TB
	dir  string
	cmd  *exec.Cmd
	addr string
}

func (s *server) start(die string) {
	s.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+s.dir, dieEnv+"="+die)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Error(err)
		return
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.t.Errorf("the server did not start: %v", err)
	}
	s.cmd, s.addr = cmd, strings.TrimSpace(line)
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func newServer(t testing.TB) *server {
	s := &server{t: t, dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(s.dir, "posts"), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

// bad is a proxy that plays a phone's network. After so many bytes towards the server the
// next fault happens.
type bad struct {
	l      net.Listener
	server *server
	wg     sync.WaitGroup

	mu     sync.Mutex
	faults []fault
	held   []net.Conn // of which the server has not heard that they are dead
}

type fault struct {
	after int
	kind  string // "close", "reset", "silence", "kill"
}

func (b *bad) run() {
	for {
		c, err := b.l.Accept()
		if err != nil {
			return
		}
		b.wg.Go(func() { b.pass(c) })
	}
}

func (b *bad) target() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.server.addr
}

// left is how many faults have not happened.
func (b *bad) left() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.faults)
}

func (b *bad) pass(phone net.Conn) {
	defer phone.Close() //nolint:errcheck // a test's
	srv, err := net.Dial("tcp", b.target())
	if err != nil {
		return
	}
	b.wg.Go(func() {
		_, _ = io.Copy(phone, srv)
		_ = phone.Close()
	})
	block := make([]byte, 16<<10)
	for {
		n, err := phone.Read(block)
		n, hit := b.count(n)
		if _, werr := srv.Write(block[:n]); werr != nil || err != nil {
			hit = "close"
		}
		if hit == "" {
			continue
		}
		b.strike(hit, phone, srv)
		return
	}
}

// count says how many of n bytes still go through, and what happens then.
func (b *bad) count(n int) (int, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.faults) == 0 {
		return n, ""
	}
	if next := &b.faults[0]; n < next.after {
		next.after -= n
		return n, ""
	}
	next := b.faults[0]
	b.faults = b.faults[1:]
	return next.after, next.kind
}

func (b *bad) strike(kind string, phone, srv net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch kind {
	case "silence":
		b.held = append(b.held, srv)
		_ = phone.Close()
		return
	case "reset":
		_ = srv.(*net.TCPConn).SetLinger(0)
	case "kill":
		b.server.kill()
		b.server.start("")
	}
	_ = srv.Close()
}

func (b *bad) close() {
	_ = b.l.Close()
	b.mu.Lock()
	for _, c := range b.held {
		_ = c.Close()
	}
	b.mu.Unlock()
	b.wg.Wait()
}

// survives sends size bytes over a network that is cut 20 times, to a server that is
// killed 5 times.
func survives(t *testing.T, size int) {
	s := newServer(t)
	s.start("")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &bad{l: l, server: s}
	r := rand.New(rand.NewPCG(1, uint64(size))) //nolint:gosec // a test's
	for i := range 25 {
		kind := []string{"close", "reset", "silence", "close", "kill"}[i%5]
		b.faults = append(b.faults, fault{size/60 + r.IntN(size/60), kind})
	}
	go b.run()
	defer func() { s.kill() }()
	defer b.close()

	phone, content := newSender("http://"+l.Addr().String()), song(size)
	phone.extra = map[string]string{"Idempotency-Key": "0b0e8f0e-1c53-4d39-9d75-0123456789ab"}
	path := phone.create(t, size)
	got, err := phone.send(path, content)
	if err != nil || got.Get("X-Post-Id") != "1" || got.Get("X-Post-Token") == "" {
		t.Fatalf("%+v, %v", got, err)
	}
	if n := b.left(); n != 0 {
		t.Fatalf("%d faults never happened", n)
	}
	shelf := &shelf{dir: filepath.Join(s.dir, "posts")}
	if posts := shelf.posts(); len(posts) != 1 || posts[0] != digest(content) {
		t.Errorf("%d posts, the first of %v", len(posts), posts)
	}
	s.kill()
	s.start("")
	if got := newSender("http://"+s.addr).head(t, path); got.Get("X-Post-Id") != "1" || got.offset() != int64(size) {
		t.Errorf("after another restart: %+v", got)
	}
}

func TestAnUploadCutTwentyTimesAndKilledFiveTimesIsOnePost(t *testing.T) { survives(t, 8<<20) }

// The two instants at which a kill could make no post, or two.
func TestAKillAroundTheTakingMakesOnePost(t *testing.T) {
	content := song(50_000)
	for _, when := range []string{"before", "after"} {
		for _, again := range []string{"HEAD", "PATCH", "nobody"} {
			s := newServer(t)
			s.start(when)
			phone := newSender("http://" + s.addr)
			path := phone.create(t, len(content))
			if got, err := phone.do("PATCH", path, strings.NewReader(string(content)), at(0)); err == nil {
				t.Errorf("%s: answered by a dead server: %+v", when, got)
			}
			_ = s.cmd.Wait()
			s.start("")
			phone = newSender("http://" + s.addr)
			switch again {
			case "HEAD":
				if got := phone.head(t, path); got.Get("X-Post-Id") != "1" || got.offset() != int64(len(content)) {
					t.Errorf("%s: %+v", when, got)
				}
			case "PATCH":
				if got := phone.patch(t, path, int64(len(content)), nil); got.Status != 204 || got.Get("X-Post-Id") != "1" {
					t.Errorf("%s: %+v", when, got)
				}
			}
			s.kill()
			if again == "nobody" {
				takeAlone(t, s.dir)
			}
			shelf := &shelf{dir: filepath.Join(s.dir, "posts")}
			if posts := shelf.posts(); len(posts) != 1 || posts[0] != digest(content) {
				t.Errorf("%s, %s: %v", when, again, posts)
			}
			if left, _ := filepath.Glob(filepath.Join(s.dir, "tus", "*"+partSuffix)); len(left) != 0 {
				t.Errorf("%s, %s: left %v", when, again, left)
			}
		}
	}
}

// takeAlone is the next start, without the sender.
func takeAlone(t *testing.T, dir string) {
	t.Helper()
	u, err := Open(Options{Dir: filepath.Join(dir, "tus"), Base: root, Keys: testKeys(), Taker: &shelf{dir: filepath.Join(dir, "posts")}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	u.sweep(t.Context())
	if s := u.Stats(); s.Unfinished != 0 || s.Receipts != 1 {
		t.Errorf("not taken: %+v", s)
	}
}
