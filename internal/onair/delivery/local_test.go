package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/delivery/deliverytest"
	"github.com/athir-radio/athir/internal/onair/playlist"
)

func TestLocalNodeConforms(t *testing.T) {
	deliverytest.Run(t, func(t *testing.T) deliverytest.Fixture {
		path, media := filepath.Join(t.TempDir(), "node", "main.m3u"), t.TempDir()
		return deliverytest.Fixture{Node: prepared(t, path), Playlist: path, Library: media, Media: media}
	})
}

// Whatever state a crash leaves the two files in, Prepare ends with the last
// whole list in the same inode, and Current never needs Prepare for that.
func TestPrepareFinishesWhatACrashCutShort(t *testing.T) {
	older, newer := deliverytest.List(t, "older", 120), deliverytest.List(t, "newer", 120)
	tear := func(at int) []byte { return append(bytes.Clone(newer[:at]), older[at:]...) }
	for name, c := range map[string]struct {
		main, journal []byte
		current, want []byte // what Current says before Prepare; the file after it
		events        int    // at most; none means exactly none
	}{
		"crash while the journal is written": {older, tear(4096), older, older, 0},
		"crash between the two writes":       {older, newer, older, older, 0},
		"crash in the first page":            {tear(100), newer, newer, newer, 1},
		"crash in a later page":              {tear(5 * 4096), newer, newer, newer, 1},
		"crash before the first list":        {playlist.Blank(), newer, playlist.Blank(), newer, 1},
		"emptied by someone":                 {nil, newer, newer, newer, 2},
		"short by one byte":                  {newer[:playlist.Size-1], newer, newer, newer, 2},
		"overwritten by someone":             {bytes.Repeat([]byte("/a.mp3\n"), 9000), newer, newer, newer, 2},
		"nothing but a torn journal":         {playlist.Blank(), tear(4096), playlist.Blank(), playlist.Blank(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "main.m3u")
			local := prepared(t, path)
			write(t, path, c.main)
			write(t, path+".journal", c.journal)
			if got, err := local.Current(t.Context()); err != nil || !bytes.Equal(got, c.current) {
				t.Errorf("current: %d bytes, %v", len(got), err)
			}
			watch := deliverytest.NewWatch(t, path)
			if err := local.Prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, c.want) {
				t.Errorf("%d bytes which are not the list wanted, %v", len(got), err)
			}
			if got := watch.Modified(t); got > c.events || got == 0 && c.events > 0 {
				t.Errorf("%d modify events, want at most %d", got, c.events)
			}
		})
	}
}

// The price of repairing a file of a wrong size is at most one more event, and
// the next push is back to one.
func TestAPushRepairsAFileOfAWrongSize(t *testing.T) {
	for name, content := range map[string][]byte{
		"empty": nil, "short": []byte("/a.mp3\n"), "long": bytes.Repeat([]byte("/a.mp3\n"), 9000),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "main.m3u")
			local := prepared(t, path)
			write(t, path, content)
			watch := deliverytest.NewWatch(t, path)
			for i, most := range []int{2, 1} {
				before, data := watch.Modified(t), deliverytest.List(t, name, 100+i)
				if err := local.Write(t.Context(), data); err != nil {
					t.Fatal(err)
				}
				if got, _ := os.ReadFile(path); !bytes.Equal(got, data) {
					t.Fatalf("write %d: %d bytes", i, len(got))
				}
				if got := watch.Modified(t) - before; got < 1 || got > most {
					t.Errorf("write %d: %d modify events, want at most %d", i, got, most)
				}
			}
		})
	}
}

// Liquidsoap takes IN_MODIFY for a reload, and IN_IGNORED too: a push must
// raise nothing but one IN_MODIFY and the close.
func TestAPushRaisesNoOtherEvent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.m3u")
	local := prepared(t, path)
	watch := deliverytest.NewWatch(t, path)
	if err := local.Write(t.Context(), deliverytest.List(t, "x", 120)); err != nil {
		t.Fatal(err)
	}
	counts := watch.Counts(t)
	if len(counts) != 2 || counts[unix.IN_MODIFY] != 1 || counts[unix.IN_CLOSE_WRITE] != 1 {
		t.Fatalf("events by bit: %v", counts)
	}
}

// Each trouble names the path and the remedy.
func TestTroubleWithTheFileNamesPathAndRemedy(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "file"), filepath.Join(dir, "folder")
	write(t, file, nil)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path, remedy string
		cause              error
	}{
		{"missing directory", filepath.Join(dir, "no", "such", "main.m3u"), "create the directory", fs.ErrNotExist},
		{"a file where the directory should be", filepath.Join(file, "main.m3u"), "create the directory", syscall.ENOTDIR},
		{"a directory where the file should be", folder, "move that directory", syscall.EISDIR},
	} {
		err := delivery.NewLocal(c.path, quiet()).Prepare(t.Context())
		if !errors.Is(err, c.cause) || !strings.Contains(err.Error(), filepath.Dir(c.path)) || !strings.Contains(err.Error(), c.remedy) {
			t.Errorf("%s: %v", c.name, err)
		}
		t.Log(err)
	}
}

func TestReadOnlyDirectoryNamesPathAndRemedy(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "main.m3u")
	local := prepared(t, path)
	data := deliverytest.List(t, "x", 9)
	// Anyone may look, nobody may write.
	for _, p := range []string{filepath.Dir(dir), dir, path, path + ".journal"} {
		if err := os.Chmod(p, 0o555); err != nil { //nolint:gosec // on purpose
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		_ = os.Chmod(filepath.Dir(dir), 0o700) //nolint:gosec // a directory
		_ = os.Chmod(dir, 0o700)               //nolint:gosec // a directory
	})
	errs := make(chan error, 2)
	go func() {
		// The superuser may write anywhere. This thread gives that up; locked
		// and never unlocked, it ends with the goroutine.
		runtime.LockOSThread()
		if os.Getuid() == 0 {
			_ = unix.Setfsuid(65534)
		}
		errs <- local.Write(context.Background(), data)
		errs <- delivery.NewLocal(filepath.Join(dir, "other.m3u"), quiet()).Prepare(context.Background())
	}()
	for range 2 {
		err := <-errs
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "write access to "+dir) {
			t.Errorf("got %v", err)
		}
		t.Log(err)
	}
}

func prepared(t *testing.T, path string) *delivery.Local {
	t.Helper()
	local := delivery.NewLocal(path, quiet())
	if err := local.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return local
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// write keeps the inode, as an operator's editor may.
func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
