package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/delivery/deliverytest"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/station"
)

// studio is a local node with real media files and the log of its deliveries.
type studio struct {
	path  string
	local *delivery.Local
	items []playlist.Item
	sizes map[string]int64 // what the registry believes
	log   bytes.Buffer
}

func newStudio(t *testing.T, files int) *studio {
	t.Helper()
	dir := t.TempDir()
	s := &studio{path: filepath.Join(dir, "main.m3u"), sizes: map[string]int64{}}
	s.local = prepared(t, s.path)
	for i := range files {
		path := filepath.Join(dir, fmt.Sprintf("%d أثير.mp3", i))
		write(t, path, make([]byte, 100+i))
		s.items = append(s.items, playlist.ItemFor(path, station.Categories()[i%10]))
		s.sizes[path] = int64(100 + i)
	}
	return s
}

func (s *studio) deliver(node delivery.Node) *delivery.Delivery {
	s.log.Reset()
	expect := func(path string) int64 {
		if size, ok := s.sizes[path]; ok {
			return size
		}
		return -1
	}
	return delivery.New(node, expect, slog.New(slog.NewTextHandler(&s.log, nil)))
}

func (s *studio) logged(line string) int {
	return strings.Count(s.log.String(), fmt.Sprintf("msg=%q", line))
}

// The mission's Rotation rebuild: one reload, the two log lines to the letter,
// nothing at all for an unchanged list.
func TestPushVerifiesAndAnUnchangedListIsNotPushed(t *testing.T) {
	s := newStudio(t, 30)
	watch := deliverytest.NewWatch(t, s.path)
	d := s.deliver(s.local)
	result, err := d.Push(t.Context(), s.items)
	if err != nil || result != (delivery.Result{Kept: 30}) {
		t.Fatalf("%+v, %v", result, err)
	}
	if s.logged("Rotation verified on remote") != 1 || s.logged("m3u unchanged - skipping remote push") != 0 {
		t.Fatal(s.log.String())
	}
	got, err := d.InPlace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.items, got); diff != "" {
		t.Fatal(diff)
	}
	result, err = d.Push(t.Context(), slices.Clone(s.items))
	if err != nil || result != (delivery.Result{Kept: 30, Unchanged: true}) {
		t.Fatalf("%+v, %v", result, err)
	}
	if s.logged("Rotation verified on remote") != 1 || s.logged("m3u unchanged - skipping remote push") != 1 {
		t.Fatal(s.log.String())
	}
	if counts := watch.Counts(t); len(counts) != 2 || watch.Modified(t) != 1 {
		t.Fatalf("events of two pushes by bit: %v", counts)
	}
}

// A list that cannot air leaves the old one untouched and says which items to drop.
func TestWhatCannotAirIsNamedAndNothingIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, s *studio)
		want  []int
	}{
		"missing file":   {func(_ *testing.T, s *studio) { _ = os.Remove(s.items[3].Path) }, []int{3}},
		"changed size":   {func(t *testing.T, s *studio) { write(t, s.items[0].Path, nil) }, []int{0}},
		"no list's path": {func(_ *testing.T, s *studio) { s.items[5].Path = "/a\x00b" }, []int{5}},
		"relative path":  {func(_ *testing.T, s *studio) { s.items[5].Path = "a.mp3" }, []int{5}},
		"several": {func(t *testing.T, s *studio) {
			write(t, s.items[2].Path, []byte("x"))
			s.items[4].Path, s.items[7].Path = "/nowhere", "/nowhere"
		}, []int{2, 4, 7}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStudio(t, 10)
			d := s.deliver(s.local)
			if _, err := d.Push(t.Context(), s.items[:6]); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(s.path)
			watch := deliverytest.NewWatch(t, s.path)
			c.spoil(t, s)
			_, err := d.Push(t.Context(), s.items)
			var bad *delivery.UnusableError
			if !errors.As(err, &bad) || !errors.Is(err, station.ErrInvalid) {
				t.Fatalf("got %v", err)
			}
			var got []int
			for _, item := range bad.Items {
				got = append(got, item.Index)
				if item.Path != s.items[item.Index].Path || !strings.Contains(err.Error(), fmt.Sprintf("%q", item.Path)) {
					t.Errorf("%+v is not item %d in %v", item, item.Index, err)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("named %v, want %v", got, c.want)
			}
			if after, _ := os.ReadFile(s.path); !bytes.Equal(before, after) || watch.Modified(t) != 0 {
				t.Error("the list in place was touched")
			}
			// Without them the next push succeeds.
			rest := slices.Clone(s.items)
			for _, i := range slices.Backward(got) {
				rest = slices.Delete(rest, i, i+1)
			}
			if _, err := d.Push(t.Context(), rest); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestAnEmptyListIsRefusedAndNothingIsWritten(t *testing.T) {
	s := newStudio(t, 3)
	d := s.deliver(s.local)
	if _, err := d.Push(t.Context(), s.items); err != nil {
		t.Fatal(err)
	}
	watch := deliverytest.NewWatch(t, s.path)
	if _, err := d.Push(t.Context(), nil); !errors.Is(err, playlist.ErrEmpty) || !errors.Is(err, station.ErrInvalid) {
		t.Fatalf("got %v", err)
	}
	if watch.Modified(t) != 0 {
		t.Fatal("the file was touched")
	}
}

func TestTailThatDoesNotFitIsReported(t *testing.T) {
	s := newStudio(t, 1)
	dir := filepath.Join(filepath.Dir(s.path), strings.Repeat("ط", 120), strings.Repeat("ط", 100))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/a.mp3", make([]byte, 9))
	items := slices.Repeat([]playlist.Item{{Path: dir + "/a.mp3"}}, 120)
	result, err := s.deliver(s.local).Push(t.Context(), items)
	if err != nil || result.Kept == 0 || result.Kept == 120 {
		t.Fatalf("%+v, %v", result, err)
	}
	want := fmt.Sprintf(`msg="playlist is too long, tail left out" kept=%d left_out=%d`, result.Kept, 120-result.Kept)
	if !strings.Contains(s.log.String(), want) {
		t.Fatalf("no %q in %s", want, s.log.String())
	}
}

// A replaced file still gets the list, and the caller learns that the engine is deaf.
func TestReplacedFileIsPushedAndReported(t *testing.T) {
	s := newStudio(t, 3)
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	result, err := s.deliver(s.local).Push(t.Context(), s.items)
	if err != nil || result != (delivery.Result{Kept: 3, Replaced: true}) {
		t.Fatalf("%+v, %v", result, err)
	}
	if !strings.Contains(s.log.String(), "restart the playout engine") || s.logged("Rotation verified on remote") != 1 {
		t.Fatal(s.log.String())
	}
}

// liar is a local node whose disk forgets, or whose media vanish, once written.
type liar struct {
	*delivery.Local
	afterWrite func()
}

func (l *liar) Write(ctx context.Context, data []byte) error {
	err := l.Local.Write(ctx, data)
	l.afterWrite()
	return err
}

// Verification looks at the node after the write, not at what was meant.
func TestVerificationSeesWhatHappenedDuringThePush(t *testing.T) {
	s := newStudio(t, 10)
	d := s.deliver(&liar{s.local, func() { write(t, s.path, []byte("/another/program.mp3\n")) }})
	if _, err := d.Push(t.Context(), s.items); !errors.Is(err, delivery.ErrUnverified) {
		t.Fatalf("got %v", err)
	}
	s = newStudio(t, 10)
	d = s.deliver(&liar{s.local, func() { _ = os.Remove(s.items[9].Path) }})
	var bad *delivery.UnusableError
	if _, err := d.Push(t.Context(), s.items); !errors.As(err, &bad) || bad.Items[0].Index != 9 {
		t.Fatalf("got %v", err)
	}
	if s.logged("Rotation verified on remote") != 0 {
		t.Fatal(s.log.String())
	}
}
