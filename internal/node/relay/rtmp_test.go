package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/port"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// rtmpStation is a relay with its nginx.
type rtmpStation struct {
	rtmp    RTMP
	address string // of the door
	door    *Door
	relay   func(*Options)
	dir     string
}

func newRTMP(t *testing.T, dir string) *rtmpStation { return newRTMPWithin(t, dir, doorLimits{}) }

// newRTMPWithin has a door with limits of its own.
func newRTMPWithin(t *testing.T, dir string, limits doorLimits) *rtmpStation {
	t.Helper()
	r := RTMP{
		Address: freeAddress(t), Dir: filepath.Join(dir, "rtmp"), Runtime: dir,
		HookAddress: "unix:" + filepath.Join(dir, "hook.sock"), StatAddress: "unix:" + filepath.Join(dir, "stat.sock"),
	}
	number := testkit.Port(t)
	door := &Door{Address: fmt.Sprintf("127.0.0.1:%d", number), Inner: r.Address, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), limits: limits}
	testkit.Background(t, door.Run)
	testkit.Eventually(t, "the door", func() bool { return port.Listening(number) })
	return &rtmpStation{rtmp: r, address: door.Address, door: door, dir: dir, relay: func(o *Options) {
		o.HookAddress, o.StatAddress, o.SourcePassword = r.HookAddress, r.StatAddress, secret.Of("s3cret")
	}}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", testkit.Port(t))
}

// nginx runs until the returned function kills it, and is up when it returns.
func (r *rtmpStation) nginx(t *testing.T, user *syscall.Credential) (pid int, kill func()) {
	t.Helper()
	spec, err := r.rtmp.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	spec.Stderr, spec.User, spec.Stop = t.Output(), user, syscall.SIGKILL
	if user != nil {
		for _, name := range []string{r.dir, r.rtmp.Dir, filepath.Join(r.rtmp.Dir, "nginx-temp"), filepath.Join(r.rtmp.Dir, "nginx.conf")} {
			if err := os.Chown(name, int(user.Uid), int(user.Gid)); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done, pids := make(chan struct{}), make(chan int, 1)
	go func() {
		defer close(done)
		if _, err := proc.Run(ctx, spec, func(pid int) { pids <- pid }); err != nil {
			t.Error(err)
		}
	}()
	kill = func() { cancel(); <-done }
	t.Cleanup(kill)
	pid = <-pids
	testkit.Eventually(t, "nginx", func() bool {
		conn, err := net.Dial("tcp", r.rtmp.Address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return pid, kill
}

// encoder publishes a tone as OBS does, until the test ends or it is refused.
func (r *rtmpStation) encoder(t *testing.T, key string) (stop func(), ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		exit, err := proc.Run(ctx, proc.Spec{Name: "encoder", Path: "ffmpeg", Args: []string{
			"-hide_banner", "-nostdin", "-loglevel", "error", "-re", "-f", "lavfi", "-i", "sine=440:sample_rate=44100",
			"-c:a", "aac", "-b:a", "96k", "-f", "flv", "rtmp://" + r.address + "/live/" + key,
		}, Stderr: t.Output()}, nil)
		if err == nil && !exit.OK() {
			err = fmt.Errorf("%s", exit)
		}
		done <- err
	}()
	stop = func() { cancel(); <-gone }
	t.Cleanup(stop)
	return stop, done
}

// live is the item of a path, nil when it is not listed.
func live(t *testing.T, s *Server, name string) map[string]any {
	t.Helper()
	_, body := get(t, "http://"+s.PathsAddr().String()+"/v3/paths/list")
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		if item["name"] == name {
			return item
		}
	}
	return nil
}

func TestEncodersPublishWithThePasswordAndAreListed(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	r := newRTMP(t, dir)
	s, stopRelay := start(t, dir, r.relay)
	_, killNginx := r.nginx(t, nil)

	_, refused := r.encoder(t, "studio?password=wrong")
	if err := <-refused; err == nil {
		t.Fatal("a wrong password was let in")
	}
	_, refused = r.encoder(t, "studio")
	if err := <-refused; err == nil {
		t.Fatal("no password was let in")
	}
	if got := s.Snapshot(); got.RTMPRefused != 2 || live(t, s, "live/studio") != nil {
		t.Fatalf("after two refusals: %+v", got)
	}

	stop, _ := r.encoder(t, "studio?password=s3cret")
	received := 0.0
	testkit.Eventually(t, "live/studio with audio", func() bool {
		item := live(t, s, "live/studio")
		if item == nil || item["ready"] != true || item["source"].(map[string]any)["type"] != "rtmpConn" {
			return false
		}
		tracks := item["tracks"].([]any)
		received = item["bytesReceived"].(float64)
		return received > 0 && len(tracks) == 1 && tracks[0] == "MPEG-4 Audio"
	})
	// On this machine it can be played: that is how it goes on air.
	if _, err := proc.Output(t.Context(), proc.Spec{Name: "listener", Path: "ffmpeg", Args: []string{
		"-hide_banner", "-nostdin", "-loglevel", "error", "-i", "rtmp://" + r.address + "/live/studio", "-t", "0.5", "-f", "s16le", "-",
	}}, 1<<20); err != nil {
		t.Errorf("play what was published: %v", err)
	}
	// A second encoder must not push the first one out.
	_, second := r.encoder(t, "studio?pass=s3cret")
	if err := <-second; err == nil {
		t.Error("the name was taken twice")
	}

	// The relay restarts, nginx and the encoder go on: it is listed again.
	stopRelay()
	s, _ = start(t, dir, r.relay)
	testkit.Eventually(t, "live/studio after a restart of the relay", func() bool {
		item := live(t, s, "live/studio")
		return item != nil && item["bytesReceived"].(float64) > received
	})
	stop()
	testkit.Eventually(t, "live/studio to go", func() bool { return live(t, s, "live/studio") == nil })

	// A killed nginx leaves no process, no stale entry, and starts again.
	_, _ = r.encoder(t, "other?key=s3cret")
	testkit.Eventually(t, "live/other", func() bool { return live(t, s, "live/other") != nil })
	killNginx()
	testkit.Eventually(t, "live/other to go with nginx", func() bool { return live(t, s, "live/other") == nil })
	r.nginx(t, nil)
}

func TestNginxRunsAsAnOrdinaryUserAndAsOneProcess(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("not root: running as this user is the case in question")
	}
	dir := shortDir(t)
	r := newRTMP(t, dir)
	var user *syscall.Credential
	if os.Getuid() == 0 {
		user = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	pid, _ := r.nginx(t, user)
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil || strings.TrimSpace(string(children)) != "" {
		t.Errorf("nginx has children %q: %v", children, err)
	}
	if user != nil {
		if info, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil || info.Sys().(*syscall.Stat_t).Uid != user.Uid {
			t.Errorf("nginx runs as %v: %v", info, err)
		}
	}
}

func TestWrongPasswordsAreRateLimitedByAddress(t *testing.T) {
	s, err := New(Options{StateDir: t.TempDir(), PublishAddress: "tcp:127.0.0.1:0", SourcePassword: secret.Of("right")})
	if err != nil {
		t.Fatal(err)
	}
	for i := range wrongAtOnce {
		if got := s.ingest.decide(t.Context(), Encoder{From: "a", Name: "x", Password: "wrong"}, noon); got != 403 {
			t.Fatalf("attempt %d: %d", i, got)
		}
	}
	for _, c := range []struct {
		from, name, password string
		after                time.Duration
		want                 int
	}{
		{"a", "x", "right", 0, 204},
		{"b", "x", "right", 0, 204},
		{"a", "x", "right", wrongEvery + time.Second, 204},
		{"b", "../x", "right", 0, 403},
		{"b", "x y", "right", 0, 403},
		{"b", "", "right", 0, 403},
		{"b", "x", "", 0, 403},
	} {
		if got := s.ingest.decide(t.Context(), Encoder{From: c.from, Name: c.name, Password: c.password}, noon.Add(c.after)); got != c.want {
			t.Errorf("%q from %s with %q after %s: %d, want %d", c.name, c.from, c.password, c.after, got, c.want)
		}
	}
	s.ingest.password = nil
	if got := s.ingest.decide(t.Context(), Encoder{From: "c", Name: "x"}, noon); got != 403 {
		t.Errorf("no password is set: %d", got)
	}
	for i := range 3 * maxSuspects {
		s.ingest.decide(t.Context(), Encoder{From: fmt.Sprint(i), Name: "x", Password: "wrong"}, noon)
	}
	if got := len(s.ingest.suspects); got > maxSuspects {
		t.Errorf("%d addresses remembered", got)
	}
}

// Who has many addresses gets no more tries than a household has, and no others forgotten.
func TestManyAddressesOfOneNetworkGuessAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newIngest(Options{SourcePassword: secret.Of("right"), Log: slog.New(slog.DiscardHandler)}, &counters{})
		guess := func(from string) int {
			return s.decide(t.Context(), Encoder{From: from, Name: "x", Password: "wrong"}, noon)
		}
		tries := 0
		for i := range 200 {
			if guess(fmt.Sprintf("2001:db8:1:2::%x", i+1)) == http.StatusForbidden {
				tries++
			}
		}
		if tries != wrongAtOnce {
			t.Errorf("a network of IPv6 has %d tries", tries)
		}
		for range wrongAtOnce + 1 {
			guess("192.0.2.1")
		}
		for i := range 3 * maxSuspects {
			guess(fmt.Sprintf("198.51.%d.%d", i/256, i%256))
		}
		if code := guess("192.0.2.1"); code != http.StatusTooManyRequests {
			t.Errorf("one that has used its tries has them again: %d", code)
		}
		if code := guess("2001:db8:1:3::1"); code != http.StatusForbidden {
			t.Errorf("another network: %d", code)
		}
	})
}

// nginx itself reads the configuration, directories with odd names included.
func TestNginxConfigurationIsValid(t *testing.T) {
	odd := filepath.Join(shortDir(t), `a "b" $c; {d}`)
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Fatal(err)
	}
	r := RTMP{Address: freeAddress(t), Dir: odd, Runtime: odd, HookAddress: "unix:" + odd + "/h", StatAddress: "unix:" + odd + "/s"}
	spec, err := r.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	spec.Args = append(spec.Args, "-t")
	if _, err := proc.Output(t.Context(), spec, 1<<20); err != nil {
		t.Error(err)
	}
}
