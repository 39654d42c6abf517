// Package e2e runs whole stations, of the real programs, and judges them by
// the audio they air.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// binary is the program under test, built once by TestMain.
var binary string

func TestMain(m *testing.M) {
	if dir := os.Getenv(fullDiskEnv); dir != "" {
		testkit.Told(func() error { return onSmallDisk(m, dir) })
	}
	sources()
	dir, err := os.MkdirTemp("", "athir-e2e-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "athir")
	if err := compile(binary, raced()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// compile writes the program to a path.
func compile(path string, race bool) error {
	cgo := "0"
	if race {
		cgo = "1" // the detector is C
	}
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-race="+strconv.FormatBool(race), "-o", path, "../../cmd/athir")
	build.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build athir: %w\n%s", err, out)
	}
	return nil
}

// raced reports that stations carry the race detector: in make soak. It takes five times
// the machine, and make test has it in the tests of every package.
func raced() bool { return os.Getenv("ATHIR_RACE") != "" && os.Getenv("ATHIR_HARM") == "" }

// sources looks at every file the program is made of. The test cache notes what
// a test looks at, but not what a compiler that it starts reads: without this a
// result of older code would pass for one of this.
func sources() {
	for _, dir := range []string{"../../cmd", "../../internal"} {
		_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
			_, _ = os.Stat(path)
			return nil
		})
	}
}

var portNames = []string{"control", "icecast", "harbor", "chat", "player", "whip", "rtmp", "hls", "paths", "nats", "turn", "turns", "live", "media"}

// station is one running `athir run`, as one test sees it.
type station struct {
	t *testing.T
	*machine
}

// machine is what tests that share a station have in common.
type machine struct {
	data    string
	media   string
	ports   map[string]int
	env     []string
	args    []string
	program string // the build of Athir that runs
	cmd     *exec.Cmd
	began   time.Time
	ended   chan struct{}
	// launched is told the process that was started; nil: nobody is.
	launched func(pid int)

	mu  sync.Mutex
	log []string
}

// option changes a station before its start.
type option func(*station)

// withGuard has the dead-air guard.
func withGuard(s *station) { s.env = append(s.env, "ATHIR_GUARD_ENABLED=true") }

// rules writes the station configuration: knobs of the rotation.
func rules(text string) option {
	return func(s *station) {
		s.t.Helper()
		write(s.t, filepath.Join(s.data, "station.json"), text)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// places bounds how many stations run at once. Each takes almost half a processor, and its
// work on files, of a low priority, comes to nothing where all of them is taken.
var places = make(chan struct{}, max(2, 3*runtime.NumCPU()/2))

// newStation prepares a station of the test's own on free ports; start starts it.
func newStation(t *testing.T, opts ...option) *station {
	t.Helper()
	places <- struct{}{}
	t.Cleanup(func() { <-places })
	s := prepare(t, t.TempDir(), opts...)
	t.Cleanup(s.forget)
	return s
}

func prepare(t *testing.T, dir string, opts ...option) *station {
	t.Helper()
	s := &station{t, &machine{program: binary, data: filepath.Join(dir, "data"), media: filepath.Join(dir, "media"), ports: map[string]int{}}}
	for _, d := range []string{s.data, s.media} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{
		"ATHIR_BIND=127.0.0.1", "ATHIR_LOG_FORMAT=text",
		"ATHIR_TIMEZONE=UTC", // the tests' own clock, in summer too
		// Tones are heard as they are, and nothing comes between them.
		"ATHIR_LIBRARY_MASTERING=false", "ATHIR_SPEECH_OFFLINE=true", "BULLETIN_HOURS=0", "CONTENT_REFRESH_HOURS=0",
		// A busy machine is late, and the guard would restart programs for that.
		"ATHIR_GUARD_ENABLED=false",
	}
	for i, p := range freePorts(t, len(portNames)) {
		s.ports[portNames[i]] = p
		s.env = append(s.env, fmt.Sprintf("ATHIR_PORTS_%s=%d", strings.ToUpper(portNames[i]), p))
	}
	rules(allDay)(s)
	for _, o := range opts {
		o(s)
	}
	return s
}

// forget removes the streaming server's configuration, which lies outside the
// test's own directory: the server's user cannot enter that.
func (s *machine) forget() {
	sum := sha256.Sum256([]byte(filepath.Join(s.data, "node")))
	_ = os.RemoveAll(filepath.Join("/run", "athir-"+hex.EncodeToString(sum[:6])))
}

func freePorts(t *testing.T, n int) []int {
	t.Helper()
	out := make([]int, n)
	for i := range out {
		out[i] = testkit.Port(t)
	}
	return out
}

// start runs the station until the test ends; then it must leave nothing behind.
func (s *station) start() *station {
	s.t.Helper()
	s.launch()
	s.t.Cleanup(s.stop)
	s.showLog()
	return s
}

// showLog shows the station's log where the test fails.
func (s *station) showLog() {
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("log of the station:\n%s", s.tail(120))
		}
	})
}

func (s *station) launch() {
	s.t.Helper()
	s.cmd = exec.Command(s.program, append([]string{"run", "--data", s.data, "--media", s.media}, s.args...)...)
	s.cmd.Env = append(os.Environ(), s.env...)
	r, w, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd.Stdout, s.cmd.Stderr = w, w
	s.began, s.ended = time.Now(), make(chan struct{})
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	_ = w.Close()
	if s.launched != nil {
		s.launched(s.cmd.Process.Pid)
	}
	cmd, ended := s.cmd, s.ended
	go func() {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			s.mu.Lock()
			s.log = append(s.log, lines.Text())
			s.mu.Unlock()
		}
		_ = cmd.Wait()
		close(ended)
	}()
}

// patience is how long anything is waited for: only what will never be takes it.
const patience = 2 * time.Minute

// stop ends the station, and fails the test where that leaves anything behind.
func (s *station) stop() {
	s.t.Helper()
	if err := s.halt(); err != nil {
		s.t.Error(err)
	}
}

// halt sends SIGINT and waits for the end of the station and of all it started.
func (s *machine) halt() error {
	select {
	case <-s.ended:
		return nil
	default:
	}
	tree := s.tree()
	_ = s.cmd.Process.Signal(os.Interrupt)
	select {
	case <-s.ended:
		return gone(tree)
	case <-time.After(patience):
		_ = s.cmd.Process.Kill()
		<-s.ended
		return errors.New("the station does not stop on SIGINT")
	}
}

func (s *machine) tail(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log[max(0, len(s.log)-n):], "\n")
}

// logged counts the log lines that hold all of the words.
func (s *machine) logged(words ...string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
next:
	for _, l := range s.log {
		for _, w := range words {
			if !strings.Contains(l, w) {
				continue next
			}
		}
		n++
	}
	return n
}

// eventually waits for a condition; the log tells why it never comes. It looks
// less often than it could: most looks are requests to a busy station.
func (s *station) eventually(what string, ok func() bool) {
	s.t.Helper()
	testkit.EventuallyNil(s.t, what, func() error {
		if ok() {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
		return notYet{s.machine}
	})
}

// atLeisure is eventually for what the station makes at a low priority: a busy
// machine gives that a small part of its time.
func (s *station) atLeisure(what string, ok func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(3 * patience); !ok() && time.Now().Before(deadline); {
		time.Sleep(200 * time.Millisecond)
	}
	s.eventually(what, ok)
}

// notYet tells what the station has logged last.
type notYet struct{ *machine }

func (n notYet) Error() string { return "the station's log:\n" + n.tail(60) }

func (s *machine) url(port, path string) string {
	return "http://127.0.0.1:" + strconv.Itoa(s.ports[port]) + path
}

// key is the station key in force.
func (s *machine) key() string {
	for _, kv := range s.env {
		if key, ok := strings.CutPrefix(kv, "STATION_KEY="); ok {
			return key
		}
	}
	settings, _ := os.ReadFile(filepath.Join(s.data, "athir.yaml")) // not there before the first start
	if key := keyLine.FindSubmatch(settings); key != nil {
		return string(key[1])
	}
	return ""
}

var keyLine = regexp.MustCompile(`(?m)^station_key: "([^"]*)"`)

// get reads one answer; an error or another status than 200 is no answer.
func (s *machine) get(port, path string) ([]byte, error) { return s.getAs(port, path, "") }

// getAs is get with a station key.
func (s *machine) getAs(port, path, key string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.getWithin(ctx, port, path, key)
}

// getWithin is getAs with less patience.
func (s *machine) getWithin(ctx context.Context, port, path, key string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url(port, path), nil)
	if err != nil {
		return nil, err
	}
	if key != "" {
		req.Header.Set("X-Station-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	body, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, resp.Status)
	}
	return body, err
}

// status is the part of /api/status that tests look at.
type status struct {
	State      string `json:"state"`
	Reason     string `json:"reason"`
	OnAir      bool   `json:"onAir"`
	Source     string `json:"source"`
	NowPlaying struct {
		Title, Artist, File string
	} `json:"nowPlaying"`
	Track     *onAir                           `json:"track"`
	History   []onAir                          `json:"history"`
	Listeners struct{ Total, HLS, Stream int } `json:"listeners"`
	Rotation  struct {
		Length, Consumed int
		BuiltAt          int64
	} `json:"rotation"`
	Library struct {
		Tracks, Quarantined int
		Scanning            bool
	} `json:"library"`
	Processes []process `json:"processes"`
}

// onAir is a track that is, or was, heard.
type onAir struct {
	File       string `json:"file"`
	Category   string `json:"category"`
	StartedAt  int64  `json:"startedAt"` // epoch milliseconds, as the engine told
	DurationMS int64  `json:"durationMs"`
}

type process struct {
	Name     string `json:"name"`
	State    string `json:"state"`
	PID      int    `json:"pid"`
	Restarts int    `json:"restarts"`
	LastExit string `json:"lastExit"`
	// Condition is how it works while it runs.
	Condition string `json:"condition"`
}

func (s *machine) status() (out status, err error) {
	body, err := s.getAs("control", "/api/status", s.key())
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(body, &out)
}

// process returns a supervised program that runs.
func (s *machine) process(name string) (process, error) {
	st, err := s.status()
	if err != nil {
		return process{}, err
	}
	for _, p := range st.Processes {
		if p.Name == name && p.PID != 0 {
			return p, nil
		}
	}
	return process{}, fmt.Errorf("%s does not run", name)
}

// running waits until a supervised program runs, and is told of: where the node is later with its
// answer than the control plane waits for it, the status is without programs.
func (s *station) running(name string) (p process) {
	s.t.Helper()
	s.eventually(name+" is listed", func() bool {
		var err error
		p, err = s.process(name)
		return err == nil
	})
	return p
}

type entry struct {
	File     string   `json:"file"`
	Category string   `json:"category"`
	Type     string   `json:"type"`
	OnAir    bool     `json:"onAir"`
	Aired    bool     `json:"aired"`
	Relaxed  []string `json:"relaxed"`
	List     int64    `json:"list"`
}

// schedule returns the rotation.
func (s *station) schedule() (entries []entry, consumed int) {
	s.t.Helper()
	entries, consumed, err := s.rotation()
	if err != nil {
		s.t.Fatal(err)
	}
	return entries, consumed
}

// rotation returns the rotation, if it can be had.
func (s *machine) rotation() (entries []entry, consumed int, err error) {
	var out struct {
		Rotation []entry `json:"rotation"`
		Consumed int     `json:"consumed"`
	}
	body, err := s.get("control", "/api/schedule")
	if err == nil {
		err = json.Unmarshal(body, &out)
	}
	return out.Rotation, out.Consumed, err
}

// onAir waits for the log line that says that audio is on Icecast.
func (s *station) onAir() {
	s.t.Helper()
	s.eventually("the log line 'on air'", func() bool { return s.logged("on air", "/main") > 0 })
}

// whole waits until every program runs and the rotation is on air.
func (s *station) whole() {
	s.t.Helper()
	s.onAir()
	s.eventually("all programs running and a rotation on air", func() bool {
		st, err := s.status()
		if err != nil || len(st.Processes) == 0 || st.State != "music" {
			return false
		}
		for _, p := range st.Processes {
			if p.State != "running" {
				return false
			}
		}
		return true
	})
}

// hlsReady waits until the relay has a playlist to give.
func (s *station) hlsReady() {
	s.t.Helper()
	s.eventually("HLS", func() bool {
		body, err := s.get("paths", "/v3/paths/list")
		return err == nil && bytes.Contains(body, []byte(`"ready":true`))
	})
}

// kill sends SIGKILL to a program and returns its old process id.
func (s *station) kill(name string) int {
	s.t.Helper()
	p := s.running(name)
	if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	return p.PID
}

// proc is one process, told from a later one of the same id by its start time.
type proc struct {
	pid, parent int
	name, start string
}

// processes lists all that live, zombies left out.
func processes() (out []proc) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		stat, err := os.ReadFile(f)
		open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
		if err != nil || open < 0 || end < 0 {
			continue // gone meanwhile
		}
		fields := strings.Fields(string(stat[end+1:]))
		if len(fields) < 20 || fields[0] == "Z" {
			continue
		}
		p := proc{name: string(stat[open+1 : end]), start: fields[19]}
		p.pid, _ = strconv.Atoi(strings.Split(f, "/")[2])
		p.parent, _ = strconv.Atoi(fields[1])
		out = append(out, p)
	}
	return out
}

// tree lists the station's process and all that descend from it.
func (s *machine) tree() (out []proc) {
	in := map[int]bool{s.cmd.Process.Pid: true}
	all := processes()
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if in[p.parent] && !in[p.pid] {
				in[p.pid], grown = true, true
			}
		}
	}
	for _, p := range all {
		if in[p.pid] {
			out = append(out, p)
		}
	}
	return out
}

// gone waits until none of the processes lives any more.
func gone(tree []proc) error {
	if len(tree) == 0 {
		return errors.New("no process to wait for: was the station up?")
	}
	var left []proc
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		left = nil
		for _, p := range processes() {
			for _, was := range tree {
				if p.pid == was.pid && p.start == was.start {
					left = append(left, p)
				}
			}
		}
		if len(left) == 0 {
			return nil
		}
	}
	return fmt.Errorf("left behind: %+v", left)
}
