package mounts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/mounts"
	"github.com/athir-radio/athir/internal/node/standby"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/test/aircheck"
)

// house is a streaming server with a tone on its main mount, and mounts beside that.
type house struct {
	*testing.T
	ice    icecast.Options
	client *http.Client
}

const password = "hackmehack-0123456789"

var beside = []mounts.Mount{{Codec: mounts.MP3, Kbps: 128}, {Codec: mounts.AAC, Kbps: 96}}

func build(t *testing.T) house {
	t.Helper()
	dir := t.TempDir()
	tone := filepath.Join(dir, "tone.wav")
	if err := aircheck.WriteWAV(tone, aircheck.Track{ID: 3, Duration: 10 * time.Second}); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	h := house{t, icecast.Options{Dir: dir, Password: password, Port: testkit.Port(t), Bind: "127.0.0.1", Station: "أثير"}, &http.Client{Transport: transport}}
	for _, m := range beside {
		h.ice.Beside = append(h.ice.Beside, icecast.Beside{Format: m.Codec, Kbps: m.Kbps})
	}
	spec, err := icecast.Prepare(t.Context(), h.ice)
	if err != nil {
		t.Fatal(err)
	}
	if d := filepath.Dir(spec.Args[1]); d != dir {
		t.Cleanup(func() { _ = os.RemoveAll(d) })
	}
	testkit.Supervised(t, spec)
	log, _ := testkit.Log(t)
	testkit.Background(t, func(ctx context.Context) error {
		return standby.Run(ctx, standby.Options{
			Log: log, Dir: dir, Files: []string{tone}, Port: h.ice.Port, Mount: "/main", Password: func() string { return password },
		})
	})
	testkit.EventuallyNil(t, "the main mount", func() error { return icecast.OnAir(t.Context(), h.client, h.ice) })
	return h
}

func (h house) feed(m mounts.Mount) *mounts.Feed {
	log, _ := testkit.Log(h)
	return mounts.New(mounts.Options{
		Log: log, Mount: m, Name: "main." + m.Codec, Port: h.ice.Port, Password: func() string { return password }, Station: "أثير",
	})
}

func (h house) url(mount string) string {
	return fmt.Sprintf("http://127.0.0.1:%d/%s", h.ice.Port, mount)
}

// listen connects as a player does, and reads until the test ends.
func (h house) listen(mount string) *player {
	h.Helper()
	req, _ := http.NewRequestWithContext(h.Context(), http.MethodGet, h.url(mount), nil)
	req.Header.Set("User-Agent", "VLC/3.0")
	resp, err := h.client.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		h.Fatalf("%s: %v %v", mount, resp, err)
	}
	p := &player{kind: resp.Header.Get("Content-Type")}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := io.Copy(p, resp.Body)
		p.ended.Store(&err)
	}()
	h.Cleanup(func() { _ = resp.Body.Close(); <-done })
	return p
}

type player struct {
	kind  string
	ended atomic.Pointer[error]

	mu    sync.Mutex
	bytes []byte
}

func (p *player) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes = append(p.bytes, b...)
	return len(b), nil
}

func (p *player) heard() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.bytes)
}

// more waits for so much more sound.
func (h house) more(p *player, m mounts.Mount, seconds int) []byte {
	h.Helper()
	want := len(p.heard()) + seconds*m.Kbps*1000/8
	testkit.Eventually(h, "more sound", func() bool { return len(p.heard()) >= want || p.ended.Load() != nil })
	if err := p.ended.Load(); err != nil {
		h.Fatalf("the listener was disconnected: %v", *err)
	}
	return p.heard()
}

// decode returns what ffprobe says of a stream, and how loud it is in dBFS.
func decode(t *testing.T, stream []byte) (codec string, mean float64) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stream")
	if err := os.WriteFile(file, stream, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := proc.Output(t.Context(), proc.Spec{Name: "ffprobe", Path: "ffprobe", Args: []string{
		"-v", "error", "-show_entries", "stream=codec_name,profile,sample_rate,channels", "-of", "csv=p=0", file,
	}}, 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	exit, err := proc.Run(t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Drain: proc.DrainWhole, Stderr: &said, Args: []string{
		"-hide_banner", "-nostats", "-i", file, "-af", "volumedetect", "-f", "null", "-",
	}}, nil)
	_, after, _ := strings.Cut(said.String(), "mean_volume: ")
	if _, scan := fmt.Sscan(after, &mean); err != nil || !exit.OK() || scan != nil {
		t.Fatalf("cannot decode: %s, %v, %v: %s", exit, err, scan, said.String())
	}
	return strings.TrimSpace(string(out)), mean
}

// title reads the title that the mount shows to players that ask for it.
func (h house) title(mount string) (string, error) {
	req, _ := http.NewRequestWithContext(h.Context(), http.MethodGet, h.url(mount), nil)
	req.Header.Set("Icy-MetaData", "1")
	resp, err := h.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	var every int
	if _, err := fmt.Sscan(resp.Header.Get("icy-metaint"), &every); err != nil {
		return "", fmt.Errorf("no titles: %v", resp.Header)
	}
	block := make([]byte, every+1)
	if _, err := io.ReadFull(resp.Body, block); err != nil {
		return "", err
	}
	text := make([]byte, 16*int(block[every]))
	if _, err := io.ReadFull(resp.Body, text); err != nil {
		return "", err
	}
	return strings.TrimRight(string(text), "\x00"), nil
}

// Players that know no Ogg hear the station in MP3 and AAC, see what plays, and stay where an
// encoder ends. Nobody on the machine sees the password, and our own parts are no listeners.
func TestPlayersThatKnowNoOggHearTheStation(t *testing.T) {
	t.Parallel()
	h := build(t)
	log, _ := testkit.Log(t)
	var programs []supervise.Program
	feeds := map[string]*mounts.Feed{}
	for _, m := range beside {
		feed := h.feed(m)
		feeds[m.Codec] = feed
		programs = append(programs, supervise.Program{
			Name: m.Codec, Prepare: func(context.Context) (proc.Spec, error) {
				feed.Begin()
				return mounts.Encoder(m, h.url("main"), "main."+m.Codec, feed), nil
			},
		})
		testkit.Background(t, func(ctx context.Context) error {
			return errors.Join(feed.Run(ctx), feed.Leave(testkit.NewHandover(t)))
		})
	}
	super, err := supervise.New(log, supervise.Around{}, programs...)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Background(t, super.Run)

	var title atomic.Pointer[string]
	title.Store(new("فيروز - نسّم علينا الهوا"))
	changed := make(chan struct{}, 1)
	titles := &icecast.Titles{
		Log: log, Client: h.client, Options: func() icecast.Options { return h.ice }, Title: func() string { return *title.Load() }, Changed: changed,
	}
	testkit.Background(t, titles.Run)

	testkit.EventuallyNil(t, "both mounts", func() error {
		status, err := icecast.ReadStatus(t.Context(), h.client, h.ice)
		if len(status.Sources) < 3 {
			return errors.Join(err, fmt.Errorf("%+v", status.Sources))
		}
		return err
	})
	players := map[string]*player{}
	for _, m := range beside {
		players[m.Codec] = h.listen("main." + m.Codec)
	}
	for _, m := range beside {
		p := players[m.Codec]
		codec, mean := decode(t, h.more(p, m, 4))
		want := map[string]string{mounts.MP3: "audio/mpeg mp3,unknown,44100,2", mounts.AAC: "audio/aac aac,LC,44100,2"}[m.Codec]
		if got := p.kind + " " + codec; got != want || mean < -30 {
			t.Errorf("%s: %s at %.1f dBFS, want %s", m.Codec, got, mean, want)
		}
	}

	shows := func(want string) {
		t.Helper()
		for _, m := range beside {
			testkit.EventuallyNil(t, "the title on "+m.Codec, func() error {
				if got, err := h.title("main." + m.Codec); err != nil || got != "StreamTitle='"+want+"';" {
					return errors.Join(err, fmt.Errorf("%q", got))
				}
				return nil
			})
		}
	}
	shows("فيروز - نسّم علينا الهوا")
	title.Store(new("Don't'; StreamUrl='x\nماجدة & <b>"))
	changed <- struct{}{}
	shows("Don’t’; StreamUrl=’x ماجدة & <b>")

	listeners, err := icecast.Listeners(t.Context(), h.client, h.ice)
	on := map[string]int{}
	for _, l := range listeners {
		if !l.Ours() && l.UserAgent == "VLC/3.0" {
			on[l.Mount]++
		}
		if l.Mount == "/main" && !l.Ours() {
			t.Errorf("an encoder counts as a listener: %+v", l)
		}
	}
	if err != nil || on["/main.mp3"] != 1 || on["/main.aac"] != 1 {
		t.Errorf("listeners by mount: %v, %v", on, err)
	}

	for _, m := range beside {
		i := slices.IndexFunc(super.Programs(), func(s supervise.Status) bool { return s.Name == m.Codec })
		before := super.Programs()[i]
		if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		killed := time.Now()
		testkit.Eventually(t, "another encoder", func() bool {
			now := super.Programs()[i]
			return now.PID != 0 && now.PID != before.PID && feeds[m.Codec].Arrived().After(killed)
		})
		all := h.more(players[m.Codec], m, 4) // the listener of before
		if _, mean := decode(t, all[len(all)-2*m.Kbps*1000/8:]); mean < -30 {
			t.Errorf("%s: %.1f dBFS after its encoder was killed", m.Codec, mean)
		}
		if now := super.Programs()[i]; now.Restarts != before.Restarts+1 {
			t.Errorf("%s: started %d times more", m.Codec, now.Restarts-before.Restarts)
		}
	}
	shows("Don’t’; StreamUrl=’x ماجدة & <b>") // of the same source

	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(all) < 4 {
		t.Fatal(all, err)
	}
	encoders := 0
	for _, file := range all {
		line, _ := os.ReadFile(file) //nolint:gosec // processes end
		if bytes.Contains(line, []byte(password)) {
			t.Errorf("%s shows the password: %q", file, line)
		}
		if bytes.Contains(line, []byte(h.url("main")+"?for=main.")) {
			encoders++
		}
	}
	if encoders != len(beside) {
		t.Errorf("%d encoders run", encoders)
	}
}

// The connection to the streaming server goes from one program to the next: nobody who listens
// is disconnected, and the mount has the same source.
func TestAMountGoesOnUnderAnotherProgram(t *testing.T) {
	t.Parallel()
	h := build(t)
	m := beside[0]
	var (
		reading sync.Mutex // held while one program reads the encoder, and while none does
		feed    = h.feed(m)
	)
	spec := mounts.Encoder(m, h.url("main"), "main.mp3", nil)
	spec.Stdout = writer(func(b []byte) (int, error) {
		reading.Lock()
		defer reading.Unlock()
		return feed.Write(b)
	})
	testkit.Supervised(t, spec)
	stop := testkit.Background(t, feed.Run)
	started := func() string {
		status, err := icecast.ReadStatus(t.Context(), h.client, h.ice)
		s, fed := status.Source("main.mp3")
		if err != nil || !fed {
			return ""
		}
		return s.Started
	}
	testkit.Eventually(t, "the mount", func() bool { return started() != "" })
	before, p := started(), h.listen("main.mp3")
	h.more(p, m, 3)

	stop()
	old := testkit.NewHandover(t)
	old.Order()
	next := h.feed(m)
	func() {
		reading.Lock()
		defer reading.Unlock() // the encoder ends only where it can write
		if err := feed.Leave(old); err != nil {
			t.Fatal(err)
		}
		taken := old.Next()
		next.Inherit(taken)
		taken.Settle()
		feed = next
	}()
	stop = testkit.Background(t, next.Run)
	all := h.more(p, m, 4)
	if codec, mean := decode(t, all[len(all)-3*m.Kbps*1000/8:]); mean < -30 || started() != before {
		t.Errorf("%s at %.1f dBFS, of a source since %s, before %s", codec, mean, started(), before)
	}

	// The last program leaves it to nobody.
	stop()
	if err := next.Leave(testkit.NewHandover(t)); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the mount's end", func() bool { return p.ended.Load() != nil && started() == "" })
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
