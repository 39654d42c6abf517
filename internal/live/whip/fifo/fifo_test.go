package fifo_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live/whip/fifo"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const frame = 3840

// numbered is a frame whose every sample is n.
func numbered(n byte) []byte {
	b := make([]byte, frame)
	for i := range b {
		b[i] = n
	}
	return b
}

func pipe(t *testing.T) (*fifo.Pipe, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "live", "whip.pcm")
	p, err := fifo.Make(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, path
}

func reader(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func write(t *testing.T, p *fifo.Pipe, n byte, want fifo.Outcome) {
	t.Helper()
	if got, err := p.Write(numbered(n)); got != want || err != nil {
		t.Fatalf("frame %d: %v, %v, want %v", n, got, err, want)
	}
}

func read(t *testing.T, f *os.File, n byte) {
	t.Helper()
	b := make([]byte, frame)
	if _, err := io.ReadFull(f, b); err != nil {
		t.Fatal(err)
	}
	if b[0] != n || b[frame-1] != n {
		t.Fatalf("frame %d.%d, want %d", b[0], b[frame-1], n)
	}
}

func TestWithoutAReaderNothingWaitsAndNothingIsKept(t *testing.T) {
	p, path := pipe(t)
	write(t, p, 1, fifo.Nobody)
	r := reader(t, path)
	write(t, p, 2, fifo.Written)
	read(t, r, 2)
}

// A reader that stands still for as long as it would catch up loses nothing. What is more
// costs whole frames, the newest; what it reads then is aligned.
func TestASlowReaderLosesWholeFrames(t *testing.T) {
	p, path := pipe(t)
	r := reader(t, path)
	written := 0
	for i := range byte(200) {
		out, err := p.Write(numbered(i))
		if err != nil {
			t.Fatal(err)
		}
		if out == fifo.Written {
			written++
		}
	}
	if written != 128 {
		t.Errorf("the pipe took %d frames, and should hold %s in 512 KiB", written, fifo.Holds)
	}
	for i := range byte(written) {
		read(t, r, i)
	}
	write(t, p, 200, fifo.Written)
	read(t, r, 200)
	if c := p.Counts(); c.Dropped != 72 || c.Written != 129 {
		t.Errorf("%+v", c)
	}
}

// A reader that died leaves nothing to the next one.
func TestTheNextReaderHearsNothingOld(t *testing.T) {
	p, path := pipe(t)
	r := reader(t, path)
	write(t, p, 1, fifo.Written)
	write(t, p, 2, fifo.Written)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, p, 3, fifo.Nobody)
	r = reader(t, path)
	write(t, p, 4, fifo.Written)
	read(t, r, 4)
}

func TestReleaseIsTheEndOfTheFeed(t *testing.T) {
	p, path := pipe(t)
	r := reader(t, path)
	write(t, p, 1, fifo.Written)
	p.Release()
	read(t, r, 1)
	if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("%d, %v", n, err)
	}
	write(t, p, 2, fifo.Written)
	read(t, r, 2)
}

func TestWhatStandsInItsPlaceIsReplacedOrRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "live")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "whip.pcm")
	if err := os.WriteFile(path, []byte("stale"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := fifo.Make(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, c := range []struct {
		path string
		kind os.FileMode
		perm os.FileMode
	}{{path, os.ModeNamedPipe, 0o600}, {dir, os.ModeDir, 0o700}} {
		if st, err := os.Lstat(c.path); err != nil || st.Mode().Type() != c.kind || st.Mode().Perm() != c.perm {
			t.Errorf("%s: %v, %v", c.path, st.Mode(), err)
		}
	}
	// Another's file in the pipe's place is not written to, and not removed.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := p.Write(numbered(1)); err == nil || out != fifo.Nobody {
		t.Errorf("%v, %v", out, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if st, err := os.Stat(path); err != nil || st.Size() != 0 {
		t.Errorf("%v, %v", st, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "full", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fifo.Make(filepath.Join(dir, "full")); err == nil {
		t.Error("a folder that holds something was taken for a stale pipe")
	}
}

func TestCloseRemovesThePipe(t *testing.T) {
	p, path := pipe(t)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := p.Write(numbered(1)); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}
