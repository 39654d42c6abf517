package proc

import (
	"fmt"
	"os"
	"sync"
)

// Thread starts programs on the thread that runs Serve. The kernel ends a child with the
// thread that started it (Pdeathsig), and only the main thread of a process lives on when
// the process replaces its own program: what is started there lives on as well.
type Thread struct {
	calls chan func()
	ended chan struct{}
	once  sync.Once
}

// NewThread makes a thread that nothing serves yet.
func NewThread() *Thread { return &Thread{calls: make(chan func()), ended: make(chan struct{})} }

// Serve carries out what is given to Do, on the calling goroutine, which must be locked to
// its thread, until done is closed.
func (t *Thread) Serve(done <-chan struct{}) {
	defer t.once.Do(func() { close(t.ended) })
	for {
		select {
		case call := <-t.calls:
			call()
		case <-done:
			return
		}
	}
}

// Do has Serve call f, and returns once it has. It returns false where nothing serves any
// more; f is not called then.
func (t *Thread) Do(f func()) bool {
	ran := make(chan struct{})
	select {
	case t.calls <- func() { defer close(ran); f() }:
		<-ran
		return true
	case <-t.ended:
		return false
	}
}

// Self is the path by which a child of this process runs this very program, whatever has
// become of its name.
const Self = "/proc/self/exe"

// FilePath is the path by which a child of this process runs an open executable, whatever
// has become of its name.
func FilePath(program *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", program.Fd()) }
