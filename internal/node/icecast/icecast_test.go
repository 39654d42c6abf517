package icecast_test

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/icecast"
)

const fullDiskEnv = "ICECAST_TEST_FULL_DISK"

// TestMain doubles as the process that fills a disk of its own.
func TestMain(m *testing.M) {
	if dir := os.Getenv(fullDiskEnv); dir != "" {
		testkit.Told(func() error { return fullDiskStory(dir) })
	}
	testkit.Main(m)
}

// On a full disk the server starts with the configuration that is there, and says so.
func TestTheServerStartsOnAFullDisk(t *testing.T) { testkit.InOwnMounts(t, fullDiskEnv) }

func fullDiskStory(dir string) error {
	if err := testkit.SmallDisk(dir, 128); err != nil {
		return err
	}
	o := icecast.Options{Dir: dir, Password: "p", Port: 8005, RunAs: "root"}
	if _, err := icecast.Prepare(context.Background(), o); err != nil {
		return err
	}
	if _, err := testkit.Fill(dir); err != nil {
		return err
	}
	if spec, err := icecast.Prepare(context.Background(), o); err != nil || spec.Note != "" {
		return fmt.Errorf("the same configuration again: %q, %w", spec.Note, err)
	}
	o.Station = strings.Repeat("أثير ", 1000)
	if spec, err := icecast.Prepare(context.Background(), o); err != nil || !strings.Contains(spec.Note, "free some space") {
		return fmt.Errorf("another configuration: %q, %w", spec.Note, err)
	}
	return nil
}

// serve runs the real server until the test ends.
func serve(t *testing.T, o icecast.Options) icecast.Options {
	t.Helper()
	o.Port = testkit.Port(t)
	o.Bind = "127.0.0.1"
	spec, err := icecast.Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if dir := filepath.Dir(spec.Args[1]); dir != o.Dir {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
	}
	spec.Stderr = t.Output()
	testkit.Supervised(t, spec)
	testkit.EventuallyNil(t, "the wanted state", func() error { return icecast.Ready(t.Context(), client(t), o) })
	return o
}

func client(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// feed sends a tone to a mount until the test ends.
func feed(t *testing.T, o icecast.Options, mount, title string) {
	t.Helper()
	testkit.Program(t, proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Stderr: t.Output(), Args: []string{
		"-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", "sine=440", "-ac", "2", "-c:a", "libvorbis",
		"-metadata", "title=" + title, "-content_type", "application/ogg", "-f", "ogg",
		fmt.Sprintf("icecast://source:%s@127.0.0.1:%d/%s", o.Password, o.Port, mount),
	}})
}

// One mount makes "source" an object, two make it an array; titles that look
// like numbers, or nearly, come without quotes.
func TestStatusOfNoneOneAndSeveralMounts(t *testing.T) {
	t.Parallel()
	o := serve(t, icecast.Options{Dir: t.TempDir(), Password: "secret", Station: `أثير <&"'>`})
	c := client(t)
	if err := icecast.OnAir(t.Context(), c, o); !errors.Is(err, icecast.ErrNoSource) {
		t.Errorf("on air before a source: %v", err)
	}

	feed(t, o, "main", "-")
	testkit.EventuallyNil(t, "the wanted state", func() error { return icecast.OnAir(t.Context(), c, o) })
	s, err := icecast.ReadStatus(t.Context(), c, o)
	if err != nil || len(s.Sources) != 1 || s.Sources[0].Mount() != "/main" {
		t.Fatalf("one mount: %+v, %v", s, err)
	}
	if got := s.Sources[0].Name; got != `أثير <&"'>` {
		t.Errorf("station name %q", got)
	}

	feed(t, o, "other", "007")
	testkit.EventuallyNil(t, "the wanted state", func() error {
		s, err = icecast.ReadStatus(t.Context(), c, o)
		if err == nil && len(s.Sources) != 2 {
			err = fmt.Errorf("%d sources", len(s.Sources))
		}
		return err
	})
	if s.Listeners() != 0 {
		t.Errorf("%d listeners before there are any", s.Listeners())
	}

	listener, err := c.Get(fmt.Sprintf("http://127.0.0.1:%d/main", o.Port))
	if err != nil {
		t.Fatal(err)
	}
	testkit.EventuallyNil(t, "the wanted state", func() error {
		s, err := icecast.ReadStatus(t.Context(), c, o)
		main, ok := s.Source("main")
		if err == nil && (!ok || main.Listeners != 1 || s.Listeners() != 1) {
			err = fmt.Errorf("listeners: %+v", s)
		}
		return err
	})
	_ = listener.Body.Close()
}

func TestOnlyTheSourcePasswordFeeds(t *testing.T) {
	t.Parallel()
	o := serve(t, icecast.Options{Dir: t.TempDir(), Password: `p&<a>"s's`})
	// Icecast may keep an answer to itself until somebody asks for something else: see
	// ask.go.
	other := client(t)
	testkit.Background(t, func(ctx context.Context) error {
		for ctx.Err() == nil {
			_ = icecast.Ready(ctx, other, o)
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
		return nil
	})
	for password, want := range map[string]int{"hackme": http.StatusUnauthorized, o.Password: http.StatusOK} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, fmt.Sprintf("http://127.0.0.1:%d/main", o.Port), strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("source", password)
		req.Header.Set("Content-Type", "audio/mpeg")
		resp, err := client(t).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("password %q: status %d, want %d", password, resp.StatusCode, want)
		}
	}
}

// A data directory below a private home is out of the reach of the user the
// server runs as.
func TestServesFromADirectoryItsUserCannotEnter(t *testing.T) {
	t.Parallel()
	private := filepath.Join(t.TempDir(), "private")
	if err := os.Mkdir(private, 0o700); err != nil {
		t.Fatal(err)
	}
	o := serve(t, icecast.Options{Dir: filepath.Join(private, "node"), Password: "secret"})
	found := icecast.Find(o)
	if len(found) != 1 {
		t.Errorf("found %v, want this one server", found)
	}
	if os.Geteuid() == 0 {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", found[0]))
		if err != nil || strings.Contains(string(status), "Uid:\t0\t") {
			t.Errorf("it runs as root (%v)", err)
		}
	}
}

func FuzzConfigurationIsWellFormed(f *testing.F) {
	f.Add("pass", "station", "main")
	f.Add(`<&>"'`, "أثير \x00\xff", "a/b]]>")
	f.Fuzz(func(t *testing.T, password, name, mount string) {
		config, err := icecast.Render(icecast.Options{Dir: "/d", Port: 8000, Password: password, Station: name, Mount: mount})
		if err != nil {
			return // refused, with a reason
		}
		var read struct {
			Auth struct {
				Source string `xml:"source-password"`
			} `xml:"authentication"`
			Mounts []struct {
				Name string `xml:"mount-name"`
			} `xml:"mount"`
		}
		if err := xml.Unmarshal(config, &read); err != nil {
			t.Fatalf("%v in\n%s", err, config)
		}
		if read.Auth.Source != password || len(read.Mounts) != 2 {
			t.Errorf("password %q reads back as %q, %d mounts", password, read.Auth.Source, len(read.Mounts))
		}
	})
}

// A full mount refuses one more listener and nobody else: its status is read, a source
// connects again, and who listens goes on.
func TestAFullServerKeepsPlacesForTheStation(t *testing.T) {
	t.Parallel()
	o := serve(t, icecast.Options{Dir: t.TempDir(), Password: "secret", MaxClients: 3})
	c := client(t)
	feed(t, o, "main", "song")
	testkit.EventuallyNil(t, "a source", func() error { return icecast.OnAir(t.Context(), c, o) })
	listen := func() (*http.Response, error) { return c.Get(fmt.Sprintf("http://127.0.0.1:%d/main", o.Port)) }
	heard := 0
	for {
		resp, err := listen()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		if resp.StatusCode == http.StatusForbidden {
			break
		}
		if heard++; heard > 1000 {
			t.Fatal("a mount for 3 has no end")
		}
	}
	if heard < 3 {
		t.Errorf("%d listeners of 3", heard)
	}
	if err := icecast.OnAir(t.Context(), c, o); err != nil {
		t.Errorf("the status of a full mount: %v", err)
	}
	feed(t, o, "other", "second") // a source finds its place
	testkit.EventuallyNil(t, "another source", func() error {
		s, err := icecast.ReadStatus(t.Context(), c, o)
		if _, ok := s.Source("other"); err == nil && !ok {
			err = errors.New("not there")
		}
		return err
	})
}
