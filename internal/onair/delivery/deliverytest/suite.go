// Package deliverytest is the conformance suite of delivery.Node: every
// implementation, local or remote, passes Run.
package deliverytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/station"
)

// Fixture is a node that was just prepared, and a look behind it.
type Fixture struct {
	Node delivery.Node
	// Playlist is the node's playlist file, as this machine reaches it.
	Playlist string
	// Library is the media directory of the control plane, where the suite
	// makes files; Media is the node's name for the same files. For a local
	// node the two are one.
	Library, Media string
}

// Run holds a node to the contract of delivery.Node. Each test gets a fresh one.
func Run(t *testing.T, fresh func(t *testing.T) Fixture) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, f Fixture)
	}{
		{"starts with a blank file of the full size", startsBlank},
		{"one write is one change of the same inode", oneWriteOneChange},
		{"refuses what is not a whole list with entries", refusesBadLists},
		{"a file behind its back is reported and still written", reportsReplacement},
		{"sizes tell files from everything else", sizes},
		{"fetch brings what is missing or stale", fetch},
		{"a cancelled context stops everything", cancelled},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, fresh(t)) })
	}
}

// List returns the bytes of a list of n entries that nothing else equals.
func List(tb testing.TB, name string, n int) []byte {
	tb.Helper()
	items := make([]playlist.Item, n)
	for i := range items {
		items[i] = playlist.ItemFor(fmt.Sprintf("/media/%s/%0150d.mp3", name, i), station.Categories()[i%10])
	}
	data, kept, err := playlist.Encode(items)
	if err != nil || kept != n {
		tb.Fatalf("encode: kept %d of %d, %v", kept, n, err)
	}
	return data
}

func startsBlank(t *testing.T, f Fixture) {
	expectContent(t, f, playlist.Blank())
}

func oneWriteOneChange(t *testing.T, f Fixture) {
	before := inode(t, f.Playlist)
	watch := NewWatch(t, f.Playlist)
	for i, data := range [][]byte{List(t, "a", 120), List(t, "b", 3), List(t, "c", 120)} {
		if err := f.Node.Write(t.Context(), data); err != nil {
			t.Fatal(err)
		}
		if got := watch.Modified(t); got != i+1 {
			t.Fatalf("%d modify events after %d writes", got, i+1)
		}
		expectContent(t, f, data)
	}
	if after := inode(t, f.Playlist); after != before {
		t.Fatalf("inode was %d, is %d", before, after)
	}
}

func refusesBadLists(t *testing.T, f Fixture) {
	good := List(t, "good", 9)
	if err := f.Node.Write(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	watch := NewWatch(t, f.Playlist)
	torn := append(bytes.Clone(List(t, "x", 120)[:8192]), List(t, "y", 120)[8192:]...)
	for name, data := range map[string][]byte{
		"nothing": nil, "blank": playlist.Blank(), "short": good[:100], "long": append(bytes.Clone(good), '\n'), "torn": torn,
	} {
		if err := f.Node.Write(t.Context(), data); err == nil {
			t.Errorf("%s: was written", name)
		}
	}
	if got := watch.Modified(t); got != 0 {
		t.Errorf("%d modify events", got)
	}
	expectContent(t, f, good)
}

func reportsReplacement(t *testing.T, f Fixture) {
	for how, replace := range map[string]func(){
		"deleted": func() { must(t, os.Remove(f.Playlist)) },
		"replaced": func() {
			must(t, os.WriteFile(f.Playlist+".new", []byte("/x.mp3\n"), 0o600))
			must(t, os.Rename(f.Playlist+".new", f.Playlist))
		},
	} {
		replace()
		data := List(t, how, 50)
		if err := f.Node.Write(t.Context(), data); !errors.Is(err, delivery.ErrReplaced) {
			t.Fatalf("%s: %v", how, err)
		}
		expectContent(t, f, data)
		data = List(t, how+" then", 50)
		if err := f.Node.Write(t.Context(), data); err != nil {
			t.Fatalf("after %s: %v", how, err)
		}
		expectContent(t, f, data)
	}
}

func sizes(t *testing.T, f Fixture) {
	names := []string{"plain.mp3", "أثير \"x\"\n.mp3", "latin-\xe9", "empty"}
	var paths []string
	var want []int64
	for i, name := range names {
		write(t, filepath.Join(f.Library, name), i*1000)
		paths, want = append(paths, f.Media+"/"+name), append(want, int64(i*1000))
	}
	write(t, filepath.Join(f.Library, "empty"), 0)
	want[3] = 0
	must(t, os.Mkdir(filepath.Join(f.Library, "directory"), 0o700))
	for _, name := range []string{"directory", "missing.mp3", "plain.mp3/below"} {
		paths, want = append(paths, f.Media+"/"+name), append(want, -1)
	}
	must(t, f.Node.Fetch(t.Context(), paths[:4], want[:4]))
	got, err := f.Node.Sizes(t.Context(), paths)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("sizes %d, want %d, %v", got, want, err)
	}
	if got, err := f.Node.Sizes(t.Context(), nil); err != nil || len(got) != 0 {
		t.Fatalf("no files: %d, %v", got, err)
	}
}

func fetch(t *testing.T, f Fixture) {
	paths := []string{f.Media + "/a.mp3", f.Media + "/nobody-has-it.mp3"}
	for _, size := range []int64{500, 700} {
		write(t, filepath.Join(f.Library, "a.mp3"), int(size))
		if err := f.Node.Fetch(t.Context(), paths, []int64{size, 100}); err != nil {
			t.Fatal(err)
		}
		got, err := f.Node.Sizes(t.Context(), paths)
		if err != nil || !slices.Equal(got, []int64{size, -1}) {
			t.Fatalf("sizes %d, %v", got, err)
		}
	}
}

func cancelled(t *testing.T, f Fixture) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, errRead := f.Node.ReadBack(ctx)
	_, errSizes := f.Node.Sizes(ctx, []string{f.Media + "/a.mp3"})
	for name, err := range map[string]error{
		"ReadBack": errRead, "Sizes": errSizes,
		"Write": f.Node.Write(ctx, List(t, "late", 5)),
		"Fetch": f.Node.Fetch(ctx, []string{f.Media + "/a.mp3"}, []int64{1}),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	expectContent(t, f, playlist.Blank())
}

// expectContent looks at the file through the node and behind it.
func expectContent(t *testing.T, f Fixture, want []byte) {
	t.Helper()
	behind, err := os.ReadFile(f.Playlist)
	must(t, err)
	through, err := f.Node.ReadBack(t.Context())
	must(t, err)
	if !bytes.Equal(behind, want) || !bytes.Equal(through, want) {
		t.Fatalf("file has %d bytes, the node says %d, want %d other ones", len(behind), len(through), len(want))
	}
}

func write(t *testing.T, path string, size int) {
	t.Helper()
	must(t, os.WriteFile(path, make([]byte, size), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
