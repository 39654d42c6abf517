package deliverytest

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Watch counts what inotify says of one file, with the mask that Liquidsoap's
// watch mode uses plus everything that is not reading.
type Watch struct {
	sentinel string

	mu     sync.Mutex
	counts map[uint32]int // by event bit
	passed chan struct{}
}

// NewWatch watches path until the test ends.
func NewWatch(t *testing.T, path string) *Watch {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	must(t, err)
	w := &Watch{
		sentinel: filepath.Join(t.TempDir(), "sentinel"),
		counts:   map[uint32]int{},
		passed:   make(chan struct{}, 1),
	}
	must(t, os.WriteFile(w.sentinel, nil, 0o600))
	mask := uint32(unix.IN_ALL_EVENTS &^ (unix.IN_ACCESS | unix.IN_OPEN | unix.IN_CLOSE_NOWRITE))
	_, err = unix.InotifyAddWatch(fd, path, mask)
	must(t, err)
	sentinel, err := unix.InotifyAddWatch(fd, w.sentinel, unix.IN_ATTRIB)
	must(t, err)

	events := os.NewFile(uintptr(fd), "inotify")
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.read(events, sentinel)
	}()
	t.Cleanup(func() {
		_ = events.Close()
		<-done
	})
	return w
}

// read drains the queue as fast as it fills: the kernel folds an event into an
// equal one that still waits, and two writes must not pass for one.
func (w *Watch) read(events *os.File, sentinel int) {
	buf := make([]byte, 64<<10)
	for {
		n, err := events.Read(buf)
		if errors.Is(err, os.ErrClosed) || err != nil {
			return
		}
		w.mu.Lock()
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd := int(int32(binary.NativeEndian.Uint32(b))) //nolint:gosec // as in struct inotify_event
			mask, name := binary.NativeEndian.Uint32(b[4:]), binary.NativeEndian.Uint32(b[12:])
			b = b[unix.SizeofInotifyEvent+int(name):]
			if wd == sentinel {
				w.passed <- struct{}{}
			} else {
				w.counts[mask]++
			}
		}
		w.mu.Unlock()
	}
}

// Modified returns the number of IN_MODIFY events so far. All that happened
// before the call is counted: the queue keeps order, so it waits for an event
// of its own to come through.
func (w *Watch) Modified(t *testing.T) int {
	t.Helper()
	return w.Counts(t)[unix.IN_MODIFY]
}

// Counts returns the events so far, by bit, except opening and reading.
func (w *Watch) Counts(t *testing.T) map[uint32]int {
	t.Helper()
	must(t, os.Chmod(w.sentinel, 0o600))
	<-w.passed
	w.mu.Lock()
	defer w.mu.Unlock()
	counts := make(map[uint32]int, len(w.counts))
	for k, v := range w.counts {
		counts[k] = v
	}
	return counts
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	var st unix.Stat_t
	must(t, unix.Stat(path, &st))
	return st.Ino
}
