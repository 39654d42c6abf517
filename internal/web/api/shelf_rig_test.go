package api_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/import/importtest"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/kit/signal"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/library/covers"
	"github.com/athir-radio/athir/internal/library/intake"
	"github.com/athir-radio/athir/internal/library/lists"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/library/overlay"
	"github.com/athir-radio/athir/internal/library/peaks"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// shelved is the library of a rig as the parts behind the studio's library know it: what is on
// disk is real, and nothing is scanned or mastered.
type shelved struct {
	signal.Changes
	r *rig

	mu       sync.Mutex
	archived []content.Archived
	again    []string // paths that were to be read again
}

func (s *shelved) Tracks() []station.Track { return s.r.lib.Tracks }

func (s *shelved) Standing(tracks []station.Track) func(int) (catalog.State, string) {
	return func(i int) (catalog.State, string) {
		if i == 5 {
			return catalog.Refused, "its peaks lie in /srv/secret"
		}
		return catalog.Airs, ""
	}
}

func (s *shelved) Aired() func(string) catalog.Aired {
	return func(path string) catalog.Aired {
		if strings.HasSuffix(path, "/1.mp3") {
			return catalog.Aired{Last: time.UnixMilli(1_700_000_000_000), Plays: 2}
		}
		return catalog.Aired{}
	}
}

func (s *shelved) Archive(_ context.Context, paths []string, reason string) (content.Moved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := content.Moved{Left: map[string]string{}}
	for _, p := range paths {
		switch {
		case p == s.r.view.OnAir.Track.Path:
			out.Kept = append(out.Kept, p)
		case !slices.ContainsFunc(s.r.lib.Tracks, func(t station.Track) bool { return t.Path == p }):
			out.Left[p] = "no such file"
		default:
			out.Archived = append(out.Archived, p)
			s.archived = append(s.archived, content.Archived{Path: p, Category: station.English, Reason: reason, At: time.UnixMilli(5), Size: 10})
		}
	}
	return out, s.r.fail
}

func (s *shelved) RestoreFiles(_ context.Context, paths []string) (content.Restored, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := content.Restored{Missing: []string{}, InTheWay: []string{}}
	for _, p := range paths {
		n := len(s.archived)
		s.archived = slices.DeleteFunc(s.archived, func(a content.Archived) bool { return a.Path == p })
		if out.Total += n - len(s.archived); n == len(s.archived) {
			out.Missing = append(out.Missing, p)
		}
	}
	return out, s.r.fail
}

func (s *shelved) Archived(_ context.Context, _ string, offset, limit int) ([]content.Archived, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := min(offset, len(s.archived))
	return slices.Clone(s.archived[from:min(from+limit, len(s.archived))]), len(s.archived), nil
}

// For intake.
func (s *shelved) Find(path string) (station.Track, bool)    { return s.r.lib.Find(path) }
func (s *shelved) Register(context.Context, ...string) error { return nil }
func (s *shelved) Airs(string) bool                          { return false }

type noPrints struct{}

func (noPrints) Alike(context.Context, []fingerprint.Print, string, string) ([]intake.Match, error) {
	return nil, nil
}
func (noPrints) Add(context.Context, string, string, string, string) error { return nil }

// bin is an archive from which nothing comes back.
type bin struct{ media string }

func (b bin) Archive(_ context.Context, path, _ string) error {
	return os.Remove(filepath.Join(b.media, path))
}
func (bin) Restore(context.Context, string, string) error { return station.ErrConflict }

// countShelf counts tracks for intake, which asks for a number.
type countShelf struct{ *shelved }

func (c countShelf) Tracks() int { return len(c.r.lib.Tracks) }

func (r *rig) openShelf(t *testing.T, mediaDir string) *api.Shelf {
	t.Helper()
	s := &shelved{r: r}
	r.shelf = s
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(mediaDir, 0o700))
	must(os.WriteFile(filepath.Join(mediaDir, "keep"), nil, 0o600)) // an empty folder is that of an unmounted disk
	pictures, err := covers.Open(filepath.Join(t.TempDir(), "covers"))
	must(err)
	notes, err := overlay.Open(t.Context(), overlay.Options{Log: r.log, DB: r.db, Registry: s, Whole: func() bool { return true }, Pictured: pictures.Has})
	must(err)
	views, err := catalog.OpenViews(t.Context(), r.db)
	must(err)
	dir := t.TempDir()
	arrivals, err := intake.Open(t.Context(), r.db, intake.Options{
		Dir: filepath.Join(dir, "files"), Media: mediaDir, Library: countShelf{s}, Prints: noPrints{}, Archive: bin{mediaDir}, Log: r.log,
	})
	must(err)
	r.arrivals = arrivals
	o := arrivals.UploadOptions()
	o.Dir, o.Base, o.Name, o.Problem = filepath.Join(dir, "tus"), api.ShelfUploads, api.Sender, api.Problem
	uploads, err := resume.Open(o)
	must(err)
	seen := noted{s, notes}
	books := catalog.New(catalog.Options{Source: seen})
	own, err := lists.Open(t.Context(), lists.Options{
		Log: r.log, DB: r.db, Registry: notes, Whole: func() bool { return true }, Standing: seen.Standing, Config: rotation.DefaultConfig, Zone: time.UTC,
		Find: func(q catalog.Query, with func(string) bool) error {
			return books.Each(q, func(row catalog.Row) bool { return with(row.Path) })
		},
		Aired: func(int64) time.Time { return time.Time{} },
		Fetch: fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Attempts: 1}),
	})
	must(err)
	return &api.Shelf{
		Catalog: books, Lists: own, Views: views, Notes: notes, Peaks: peaks.New(t.Context()), Covers: pictures, Intake: arrivals, Uploads: uploads, Archive: s,
		Registered: func() *media.Snapshot { now := r.lib; return &now },
		Again: func(_ context.Context, paths []string) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.again = append(s.again, paths...)
			return r.fail
		},
		Explain: func(_ context.Context, path string) (rotation.Standing, error) {
			if strings.HasSuffix(path, "/5.mp3") {
				return rotation.Standing{}, fmt.Errorf("%q cannot air now: %w", path, station.ErrNotFound)
			}
			return rotation.Standing{Broken: []rotation.Rule{rotation.Cooldown}, Turns: 3, Fewest: 2, Before: 4, Size: 6, Weight: 0.3333, At: time.UnixMilli(9)}, nil
		},
		Airings: func(context.Context, string, int) ([]telemetry.Aired, error) {
			return []telemetry.Aired{
				{Airing: telemetry.Airing{StartedAt: time.UnixMilli(7)}, Counted: true, Start: 12, Went: 3, Came: 1}, {Airing: telemetry.Airing{StartedAt: time.UnixMilli(6)}},
			}, r.fail
		},
		Sound: func(path string) (api.ShelfSound, bool) {
			return api.ShelfSound{LUFS: -14.04, TruePeak: -1.53, Airs: "copy", Length: 179_000}, !errors.Is(r.fail, station.ErrNotFound)
		},
	}
}

// noted is the library with what is said of its tracks.
type noted struct {
	*shelved
	notes *overlay.Overlay
}

func (n noted) Tracks() []station.Track { return n.notes.Tracks() }

// plainCall is call for what is a protocol of its own, and not in the document.
func (r *rig) plainCall(t *testing.T, method, path, body string, headers ...string) (int, http.Header, string) {
	t.Helper()
	was := r.client
	defer func() { r.client = was }()
	r.client = &http.Client{}
	return r.call(t, method, path, body, headers...)
}

// tone writes a recording of some seconds, and returns its bytes.
func tone(t *testing.T, file string, seconds int) []byte {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", fmt.Sprintf("sine=d=%d", seconds), "-metadata", "title=Nile", "-metadata", "artist=Amr", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// upload sends a file as the studio does, and returns the last answer with the id of what the
// file has become.
func (r *rig) upload(t *testing.T, name string, data []byte, headers ...string) (code int, id, body string) {
	t.Helper()
	meta := "filename " + base64.StdEncoding.EncodeToString([]byte(name)) + ",batch " + base64.StdEncoding.EncodeToString([]byte("b1"))
	create := append([]string{"Tus-Resumable", "1.0.0", "Upload-Length", strconv.Itoa(len(data)), "Upload-Metadata", meta}, headers...)
	code, head, body := r.plainCall(t, "POST", api.ShelfUploads, "", create...)
	if code != http.StatusCreated {
		return code, "", body
	}
	piece := append([]string{"Tus-Resumable", "1.0.0", "Upload-Offset", "0", "Content-Type", "application/offset+octet-stream"}, headers...)
	code, head, body = r.plainCall(t, "PATCH", head.Get("Location"), string(data), piece...)
	return code, head.Get(intake.Header), body
}

// The uploads that the manual speaks of: one that asks, and one that is refused.
const (
	exampleArrival = "7mq2xkvd4hzr5tnbwc3yalpoge"
	exampleRefused = "n5c2rwk4vzq7tbhxm3lyapdgue"
	exampleTaken   = "q4xkvd2mzr5tnbwc3yalpogehj"
)

// exampleArrivals uploads them, and gives the track of the manual a file that can be drawn.
func (r *rig) exampleArrivals(t *testing.T) (names []string) {
	t.Helper()
	tone(t, filepath.Join(r.files.Media, "music/english/2.mp3"), 2)
	key := []string{"X-Station-Key", "open-sesame"}
	r.runIntake(t)
	for _, one := range []struct {
		example, file string
		data          []byte
		becomes       intake.State
	}{
		{exampleArrival, "nile.mp3", tone(t, filepath.Join(t.TempDir(), "nile.mp3"), 70), intake.Asks},
		{exampleRefused, "notes.mp3", []byte("no sound"), intake.Refused},
		{exampleTaken, "delta.mp3", tone(t, filepath.Join(t.TempDir(), "delta.mp3"), 80), intake.Asks},
	} {
		code, id, body := r.upload(t, one.file, one.data, key...)
		if code != http.StatusNoContent {
			t.Fatalf("%s: %d %s", one.file, code, body)
		}
		r.eventually(t, string(one.becomes), func() (string, bool) {
			a, err := r.arrivals.Find(id)
			return fmt.Sprint(a.State, err), a.State == one.becomes
		})
		names = append(names, one.example, id)
	}
	taken := names[len(names)-1]
	if n, err := r.arrivals.Take(t.Context(), []string{taken}); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	r.eventually(t, "taken", func() (string, bool) {
		a, err := r.arrivals.Find(taken)
		return fmt.Sprint(a.State, err), a.State == intake.Taken
	})
	return names
}

// exampleFile is a file that the manual has at hand.
func exampleFile(t *testing.T, name string) string {
	t.Helper()
	var data bytes.Buffer
	switch name {
	case "cover.jpg":
		if err := jpeg.Encode(&data, image.NewGray(image.Rect(0, 0, 400, 300)), nil); err != nil {
			t.Fatal(err)
		}
	case "logo.png", "icon.png":
		if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, 600, 300))); err != nil {
			t.Fatal(err)
		}
	case "show.png":
		if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, 1500, 1400))); err != nil {
			t.Fatal(err)
		}
	case exampleBackup:
		return string(backup(t, importtest.NewAzura(20, 0), false))
	case "list.m3u":
		return "#EXTM3U\nmusic/english/1.mp3\n"
	default:
		t.Fatalf("the manual's %s is not known here", name)
	}
	return data.String()
}

// runIntake has uploaded files looked at and placed until the test ends.
func (r *rig) runIntake(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- r.arrivals.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func (r *rig) eventually(t *testing.T, what string, look func() (string, bool)) (last string) {
	t.Helper()
	testkit.EventuallyNil(t, what, func() error {
		var ok bool
		if last, ok = look(); !ok {
			return fmt.Errorf("now %s", last)
		}
		return nil
	})
	return last
}
