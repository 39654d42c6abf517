package doctor

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/lock"
	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live/turn"
	"github.com/athir-radio/athir/internal/onair/playlist"
)

// example is a data directory with the settings that it starts with, as they stand there.
func example(t *testing.T, more string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	text := "station_key: k\nsync_token: t\nsource_password: long-enough\nturn_secret: s\n" + more
	if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Look(config.Source{DataDir: dir, Controls: true})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// A look leaves nothing behind, neither in a new directory nor in one that is used.
func TestALookLeavesNoTrace(t *testing.T) {
	cfg := example(t, "")
	list := func() (names []string) {
		_ = filepath.WalkDir(cfg.DataDir, func(path string, d fs.DirEntry, _ error) error {
			info, _ := d.Info()
			names = append(names, path+info.ModTime().String())
			return nil
		})
		return names
	}
	before := strings.Join(list(), "\n")
	results := Run(t.Context(), Options{Config: cfg, Ports: []Port{{"control", testkit.Port(t), "control"}}, Offline: true})
	if after := strings.Join(list(), "\n"); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	if Count(results, Wrong) != 0 || Count(results, OK) < 10 {
		t.Errorf("%+v", results)
	}
	for _, r := range results {
		if r.Name == "" || r.Verdict == "" || r.Seen == "" {
			t.Errorf("%+v", r)
		}
	}
	// Where the settings cannot be read the machine is looked at all the same.
	results = Run(t.Context(), Options{Settings: errors.New("not valid YAML"), Offline: true})
	if results[0].Verdict != Wrong || len(results) < 8 {
		t.Errorf("%+v", results)
	}
	if _, err := config.Look(config.Source{DataDir: filepath.Join(cfg.DataDir, "none")}); !errors.Is(err, config.ErrNoStation) {
		t.Errorf("a directory that is none: %v", err)
	}
}

// A port is told to be the station's, or by whom it is taken.
func TestAPortIsToldByItsHolder(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // at the end
	p := Port{"control", l.Addr().(*net.TCPAddr).Port, "control"}
	cfg := example(t, "")
	if err := os.MkdirAll(cfg.NodeDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	look := func() Result {
		return all(t.Context(), Options{Config: cfg, Ports: []Port{p}}.portChecks(processes(cfg)))[0]
	}
	if r := look(); r.Verdict != Wrong || !strings.Contains(r.Seen, "doctor.test") {
		t.Errorf("no station runs: %+v", r)
	}
	held, err := lock.Acquire(cfg.NodeDir(), "control")
	if err != nil {
		t.Fatal(err)
	}
	if r := look(); r.Verdict != OK || !strings.Contains(r.Seen, "held by the station") {
		t.Errorf("this process is the station: %+v", r)
	}
	held.Release()
	if a := processes(cfg); a.running() {
		t.Errorf("the lock is given back: %+v", a)
	}
	if !descends(os.Getpid(), os.Getppid()) || descends(os.Getppid(), os.Getpid()) {
		t.Error("who descends from whom")
	}
}

// The offset of the clock is that of a time server, and a packet that is none says nothing.
func TestTheClockIsComparedWithATimeServer(t *testing.T) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0") //nolint:noctx // of a test
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close() //nolint:errcheck // at the end
	answer := make(chan []byte, 1)
	go func() {
		packet := make([]byte, 48)
		for {
			_, from, err := server.ReadFrom(packet)
			if err != nil {
				return
			}
			_, _ = server.WriteTo(<-answer, from)
		}
	}()
	said := make([]byte, 48)
	said[0], said[1] = 0x24, 2
	binary.BigEndian.PutUint32(said[40:], uint32(time.Now().Add(-time.Hour).Unix()+2_208_988_800)) //nolint:gosec // until 2036
	answer <- said
	off, err := offset(t.Context(), server.LocalAddr().String())
	if err != nil || off.Round(time.Minute) != time.Hour {
		t.Errorf("off by %s, %v", off, err)
	}
	answer <- make([]byte, 48)
	if _, err := offset(t.Context(), server.LocalAddr().String()); err == nil {
		t.Error("zeros are a time")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := offset(ended, server.LocalAddr().String()); err == nil {
		t.Error("a server that says nothing is waited for")
	}
}

// A door is open when its body begins, not when it answers.
func TestADoorIsOpenWhenItsBodyBegins(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/audio":
			_, _ = w.Write([]byte("OggS"))
			w.(http.Flusher).Flush()
			<-r.Context().Done() // it goes on
		case "/empty":
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	for path, want := range map[string]string{"/audio": "", "/empty": "nothing follows", "/": "503"} {
		_, err := firstByte(t.Context(), s.URL+path)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The relay of the station lets in who knows its secret, and nobody else.
func TestTheRelayIsAskedAsPhonesAsk(t *testing.T) {
	address := net.JoinHostPort("127.0.0.1", portText(t))
	media := turn.Media{}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0") //nolint:noctx // of a test
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // at the end
	media.Public = conn.LocalAddr().(*net.UDPAddr).AddrPort()
	server, err := turn.New(turn.Options{Secret: secret.Of("s"), Address: address, Media: []turn.Media{media}})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Background(t, server.Run)
	testkit.Eventually(t, "the relay serves", func() bool { return server.Addr("udp").IsValid() })
	user, password, _ := turn.Credentials([]byte("s"), "doctor", time.Now())
	if relayed, err := allocate(t.Context(), address, user, password); err != nil || !relayed.IsValid() {
		t.Errorf("%s, %v", relayed, err)
	}
	if _, err := allocate(t.Context(), address, user, "guess"); err == nil {
		t.Error("it lets a guess in")
	}
}

func portText(t *testing.T) string {
	t.Helper()
	_, text, _ := net.SplitHostPort(config.Local(testkit.Port(t)))
	return text
}

// Small writes are timed, the playlist read and the newest backup found.
func TestFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	took, err := syncs(t.Context(), dir)
	if left, _ := os.ReadDir(dir); err == nil && len(took) != syncTries || len(left) != 0 {
		t.Errorf("%d writes, %v, left %v", len(took), err, left)
	}
	path := filepath.Join(dir, "main.m3u")
	if err := os.WriteFile(path, playlist.Blank(), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := readPlaylist(path); n != 0 || err != nil {
		t.Errorf("an empty playlist: %d, %v", n, err)
	}
	torn := playlist.Blank()
	torn[len(torn)-2] = 'x'
	if err := os.WriteFile(path, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readPlaylist(path); !errors.Is(err, playlist.ErrTorn) {
		t.Errorf("a playlist that was changed: %v", err)
	}
}

// What counts as a backup is not the doctor's to say: files beside them are none.
func TestOnlyABackupCountsAsOne(t *testing.T) {
	cfg := &config.Config{DataDir: t.TempDir()}
	cfg.Backup.To = "backups"
	made, fault := time.Time{}, error(nil)
	o := Options{Config: cfg, NewestBackup: func() (time.Time, error) { return made, fault }}
	judged := func() Result {
		checks := o.dataChecks(alive{})
		return checks[slices.IndexFunc(checks, func(c check) bool { return c.name == "backup" })].run(t.Context())
	}
	if r := judged(); r.Verdict != Skipped {
		t.Errorf("no folder: %+v", r)
	}
	if err := os.Mkdir(cfg.BackupDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cfg.BackupDir(), "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := judged(); r.Verdict != Warning {
		t.Errorf("a file that is none: %+v", r)
	}
	made = time.Now().Add(-5 * time.Hour)
	if r := judged(); r.Verdict != OK || !strings.Contains(r.Seen, "5 hours") {
		t.Errorf("one of five hours ago: %+v", r)
	}
	if fault = os.ErrPermission; judged().Verdict != Skipped {
		t.Errorf("a folder that cannot be read: %+v", judged())
	}
}

// A folder that hangs is told of, and does not hold the doctor up.
func TestACopyInAFolderThatHangs(t *testing.T) {
	cfg := &config.Config{DataDir: t.TempDir()}
	cfg.Backup.Continuous = t.TempDir()
	hangs := make(chan struct{})
	defer close(hangs)
	o := Options{Config: cfg, Reach: func() (time.Time, time.Duration, error) {
		<-hangs
		return time.Time{}, 0, nil
	}}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if c := o.lookAtCopy(ctx); !errors.Is(c.err, context.DeadlineExceeded) {
		t.Errorf("it hangs: %+v", c)
	}
	until := time.Now()
	o.Reach = func() (time.Time, time.Duration, error) { return until, time.Second, nil }
	if c := o.lookAtCopy(t.Context()); !c.until.Equal(until) || c.behind != time.Second || !c.beside || c.err != nil {
		t.Errorf("beside the data: %+v", c)
	}
	if cfg.Backup.Continuous += "/away"; !errors.Is(o.lookAtCopy(t.Context()).err, os.ErrNotExist) {
		t.Errorf("it is away: %+v", o.lookAtCopy(t.Context()))
	}
}
