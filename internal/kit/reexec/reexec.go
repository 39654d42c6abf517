// Package reexec replaces the program of a running process by another one, in place: the
// process keeps its id, its parent and its children, and the new program gets the
// descriptors and the state that the old one leaves to it. Whoever is connected to a
// listening socket meanwhile waits in its queue instead of being refused.
//
// It goes so:
//
//	running --Order--> stopping: what is to live on is left --Exec--> the new program
//	                                                                    |
//	             running <--Settle (it is well)-- resuming: it takes what was left
//	                                                 |
//	             the old program <--Back (it cannot begin, or does not in time)
//
// Until Settle the executable of the old program and all that was left stay open, so that
// Back can begin the old one again. It gets what the failed program leaves in its turn, for
// that may have gone on with the work for a while, and whatever that one did not leave as it
// was. A program that Back began does not go back once more. One that crashes before Settle
// is started again by whoever supervises the process.
//
// It knows nothing of what is left, and a nil *Handover is one that leaves nothing and to
// which nothing was left.
package reexec

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Step numbers what programs leave to each other. A program takes over from its own step
// and from the one before; it is raised when an older program could not read what is left.
const Step = 1

// env names the descriptor of what was left.
const env = "ATHIR_HANDOVER"

// ErrReplaced is the cause of a context that ends because a new program was ordered.
var ErrReplaced = errors.New("another program takes over this process")

// estate is what is written for the new program.
type estate struct {
	Step    int
	Version string
	Files   map[string]int // descriptor by name
	Blobs   map[string][]byte
	Program int // descriptor of the executable to go back to
	// Returned: the program after the reader failed, and there is none to go back to.
	Returned bool
}

// Handover is what one program of a process leaves to the next. Make it with Inherit.
type Handover struct {
	version string
	self    *os.File // this program's executable, whatever has taken its path
	cancel  context.CancelCauseFunc
	asked   func() error // not nil once the process is to end

	mu      sync.Mutex
	came    *estate // nil once settled
	settled chan struct{}
	next    *os.File // executable to go on with; nil before Order
	files   map[string]*os.File
	blobs   map[string][]byte
	extra   []string // environment of the next program beside ours
}

// Inherit reads what the program before left to this one, if there was one. It is called on
// the main thread, before anything else. The context ends with ErrReplaced when another
// program is ordered.
func Inherit(ctx context.Context, version string) (context.Context, *Handover, error) {
	asked := ctx.Err
	ctx, cancel := context.WithCancelCause(ctx)
	h := &Handover{
		version: version, cancel: cancel, asked: asked, settled: make(chan struct{}),
		files: map[string]*os.File{}, blobs: map[string][]byte{},
	}
	name() // the kernel's own would be that of a descriptor
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return ctx, nil, fmt.Errorf("open this program's executable: %w", err)
	}
	h.self = self
	value, is := os.LookupEnv(env)
	if !is {
		close(h.settled)
		return ctx, h, nil
	}
	if err := errors.Join(os.Unsetenv(env), h.read(value)); err != nil {
		return ctx, h, fmt.Errorf("read what the program before left: %w", err)
	}
	return ctx, h, nil
}

// name gives the process the name that it was started by, as ps and top show it.
func name() {
	if text, err := unix.BytePtrFromString(filepath.Base(os.Args[0])); err == nil {
		_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(text)), 0, 0, 0) // a number is no harm
	}
}

func (h *Handover) read(value string) error {
	fd, err := strconv.Atoi(value)
	if err != nil || fd < 3 {
		return fmt.Errorf("%s=%q is no descriptor", env, value)
	}
	unix.CloseOnExec(fd)
	deed := os.NewFile(uintptr(fd), "handover") //nolint:gosec // not negative
	defer deed.Close()                          //nolint:errcheck // only read
	var came estate
	if err := gob.NewDecoder(io.NewSectionReader(deed, 0, 1<<40)).Decode(&came); err != nil {
		return err
	}
	for _, fd := range came.Files {
		unix.CloseOnExec(fd)
	}
	unix.CloseOnExec(came.Program)
	h.came = &came
	if !Near(came.Step) {
		return fmt.Errorf("version %s is more than one step away from version %s: upgrade to a version between them first", h.version, came.Version)
	}
	return nil
}

// Near reports whether a program of this step and this one can leave each other anything.
func Near(step int) bool { return step >= Step-1 && step <= Step+1 }

// From returns the version of the program before; empty where there was none.
func (h *Handover) From() string {
	if h == nil || h.came == nil {
		return ""
	}
	return h.came.Version
}

// Take returns a copy of a descriptor that was left, nil where none was.
func (h *Handover) Take(name string) *os.File {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.came == nil {
		return nil
	}
	fd, is := h.came.Files[name]
	if !is {
		return nil
	}
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3) //nolint:gosec // not negative
	if err != nil {
		return nil
	}
	// Handing over made it block (os.File.Fd); nothing that is read with a deadline may.
	_ = unix.SetNonblock(own, true)
	return os.NewFile(uintptr(own), name) //nolint:gosec // not negative
}

// Read decodes a value that was left into a pointer; false where none was, or not such a
// one.
func (h *Handover) Read(name string, into any) bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.came == nil || h.came.Blobs[name] == nil {
		return false
	}
	return gob.NewDecoder(strings.NewReader(string(h.came.Blobs[name]))).Decode(into) == nil
}

// Leave gives a descriptor to the next program. The handover closes it.
func (h *Handover) Leave(name string, f *os.File) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.files[name]; old != nil {
		_ = old.Close()
	}
	h.files[name] = f
}

// Write leaves a value to the next program, in Go's gob encoding, which allows later
// programs more fields.
func (h *Handover) Write(name string, value any) error {
	var b strings.Builder
	if err := gob.NewEncoder(&b).Encode(value); err != nil {
		return fmt.Errorf("leave %s: %w", name, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.blobs[name] = []byte(b.String())
	return nil
}

// Environ adds KEY=VALUE pairs to the environment of the next program: those that this one
// has removed from its own.
func (h *Handover) Environ(pairs []string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.extra = pairs
}

// Order has the process go on with another executable: the context of Inherit ends, and
// whoever stops leaves what is to live on. It takes the file over.
func (h *Handover) Order(program *os.File) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.next != nil || h.came != nil {
		return errors.Join(errors.New("another program is taking over already: wait until it is well"), program.Close())
	}
	h.next = program
	h.cancel(ErrReplaced)
	return nil
}

// Leaving reports that another program takes over once this one has stopped, the one before
// where this one has not settled: who stops leaves instead of closing. It is false where the
// process is to end.
func (h *Handover) Leaving() bool {
	if h == nil || h.asked() != nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.next != nil || h.canGoBack()
}

// Settle says that this program is well: there is no way back to the one before, and what
// was left and not taken is closed.
func (h *Handover) Settle() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.came == nil {
		return
	}
	for _, fd := range h.came.Files {
		_ = unix.Close(fd)
	}
	_ = unix.Close(h.came.Program)
	h.came = nil
	close(h.settled)
}

// Settled is closed once this program is well, at once where there was none before.
func (h *Handover) Settled() <-chan struct{} {
	if h == nil {
		always := make(chan struct{})
		close(always)
		return always
	}
	return h.settled
}

// Self is this program's own executable, for who runs it again: its path may be another's
// by now.
func (h *Handover) Self() *os.File { return h.self }

// Exec begins the ordered program and returns only if that is impossible. Everything else
// must have stopped.
func (h *Handover) Exec(args []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := estate{Step: Step, Version: h.version, Files: map[string]int{}, Blobs: map[string][]byte{}, Program: int(h.self.Fd())} //nolint:gosec // a descriptor
	h.addTo(&e)
	return h.run(h.next, args, e)
}

// addTo has an estate hold what this program leaves.
func (h *Handover) addTo(e *estate) {
	for name, f := range h.files {
		e.Files[name] = int(f.Fd()) //nolint:gosec // a descriptor
	}
	maps.Copy(e.Blobs, h.blobs)
}

// TakesOver reports that this program has not settled since it took over from another.
func (h *Handover) TakesOver() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.came != nil
}

// CanGoBack reports that this program has not settled and there is one before it that may
// do better.
func (h *Handover) CanGoBack() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.canGoBack()
}

// Returned reports that this program goes on because the one after it was not well.
func (h *Handover) Returned() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.came != nil && h.came.Returned
}

func (h *Handover) canGoBack() bool { return h.came != nil && !h.came.Returned }

// Back begins the program before again and returns only if that is impossible. Everything
// else must have stopped.
func (h *Handover) Back(args []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.canGoBack() {
		return errors.New("there is no program before this one")
	}
	e := *h.came
	e.Returned = true
	if e.Step == Step { // what is left by another step the former program may not know
		e.Files, e.Blobs = maps.Clone(e.Files), maps.Clone(e.Blobs)
		h.addTo(&e)
	}
	return h.run(os.NewFile(uintptr(e.Program), "program"), args, e) //nolint:gosec // a descriptor
}

// run writes the estate, lets its descriptors live on and replaces the program.
func (h *Handover) run(program *os.File, args []string, e estate) error {
	memory, err := unix.MemfdCreate("handover", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("make memory for the next program: %w", err)
	}
	deed := os.NewFile(uintptr(memory), "handover") //nolint:gosec // not negative
	if err := gob.NewEncoder(deed).Encode(e); err != nil {
		return fmt.Errorf("write for the next program: %w", err)
	}
	for _, fd := range append(slices.Collect(maps.Values(e.Files)), memory, e.Program) {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil { //nolint:gosec // not negative
			return fmt.Errorf("keep descriptor %d for the next program: %w", fd, err)
		}
	}
	path := fmt.Sprintf("/proc/self/fd/%d", program.Fd())
	environ := append(os.Environ(), h.extra...)
	err = unix.Exec(path, args, append(environ, fmt.Sprintf("%s=%d", env, memory)))
	return fmt.Errorf("run the next program: %w", err)
}
