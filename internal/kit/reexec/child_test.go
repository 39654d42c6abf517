package reexec_test

import (
	"bufio"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/reexec"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// childDir is the variable that has this test's program run as the process under test.
const childDir = "REEXEC_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(child(dir))
	}
	testkit.Main(m)
}

// seen is what a program tells of itself.
type seen struct {
	Name, From string // the base name of its executable, and that of the one before
	PID        int
	Read       string // the next byte of the file that is passed on
	Count      int    // of the programs that had the value, with those that failed
	Pipe       string // what reading an empty pipe with a deadline gave
	Open       int    // descriptors
}

// child is one program of the process under test, as cmd/athir is: named for its executable.
// One named "bad..." takes over, serves nothing and fails; "far..." is of another step.
func child(dir string) (code int) {
	path, _ := os.Readlink("/proc/self/exe")
	name := filepath.Base(path)
	asked, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if strings.HasPrefix(name, "far") {
		return far(name, dir)
	}
	ctx, h, err := reexec.Inherit(asked, name)
	fmt.Println("begun", name)
	if there(dir, "hold") {
		_, _ = os.Stdin.Read(make([]byte, 1))
	}
	if err == nil {
		err = work(ctx, h, dir, name)
	}
	switch {
	case asked.Err() != nil:
		fmt.Println("ended", name)
	case h.CanGoBack():
		fmt.Println("back", name, err)
		err = h.Back(os.Args)
	case err == nil && h.Leaving():
		err = h.Exec(os.Args)
	}
	if err != nil {
		fmt.Println("failed", name, err)
		return 1
	}
	return 0
}

func there(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

func work(ctx context.Context, h *reexec.Handover, dir, name string) error {
	s := seen{Name: name, From: h.From(), PID: os.Getpid()}
	var doors []net.Listener
	for _, at := range [][2]string{{"unix", filepath.Join(dir, "door")}, {"tcp", os.Getenv("REEXEC_TEST_TCP")}} {
		l, err := h.Listen(ctx, at[0], at[1])
		if err != nil {
			return err
		}
		doors = append(doors, l)
	}
	h.Read("count", &s.Count)
	s.Count++
	if err := h.Write("count", s.Count); err != nil {
		return err
	}
	if strings.HasPrefix(name, "bad") || h.From() == name && there(dir, "never again") {
		return errors.New("not well")
	}
	file, r, w := h.Take("file"), h.Take("read"), h.Take("write")
	if file == nil {
		var err error
		if file, err = os.Open(filepath.Join(dir, "letters")); err != nil {
			return err
		}
		if r, w, err = os.Pipe(); err != nil {
			return err
		}
	}
	letter := make([]byte, 1)
	if _, err := file.Read(letter); err != nil {
		return err
	}
	s.Read = string(letter)
	err := r.SetReadDeadline(time.Unix(1, 0))
	if err == nil {
		_, err = r.Read(letter)
	}
	s.Pipe = fmt.Sprint(errors.Is(err, os.ErrDeadlineExceeded))
	for name, f := range map[string]*os.File{"file": file, "read": r, "write": w} {
		h.Leave(name, f)
	}
	h.Settle()
	return serve(ctx, h, doors, s)
}

// serve answers one line to each connection, until another program is ordered or the
// process is to end.
func serve(ctx context.Context, h *reexec.Handover, doors []net.Listener, s seen) error {
	var open sync.WaitGroup
	for _, door := range doors {
		stop := context.AfterFunc(ctx, func() { _ = door.Close() })
		defer stop()
		open.Go(func() {
			for {
				c, err := door.Accept()
				if err != nil {
					return
				}
				answer(h, c, s)
			}
		})
	}
	open.Wait()
	return nil
}

func answer(h *reexec.Handover, c net.Conn, s seen) {
	defer c.Close() //nolint:errcheck // a test's
	line, _ := bufio.NewReader(c).ReadString('\n')
	if program, is := strings.CutPrefix(strings.TrimSpace(line), "order "); is {
		f, err := os.Open(program)
		if err == nil {
			err = h.Order(f)
		}
		_, _ = fmt.Fprintln(c, err)
		return
	}
	entries, _ := os.ReadDir("/proc/self/fd")
	s.Open = len(entries)
	_ = json.NewEncoder(c).Encode(s)
}

// estate is reexec's, as a program of another step writes it.
type estate struct {
	Step    int
	Version string
	Files   map[string]int
	Blobs   map[string][]byte
	Program int
}

// far is a program of a later step: it orders what is in the file "next", and tells what it
// has where it is gone back to.
func far(name, dir string) int {
	fmt.Println("begun", name)
	if value, is := os.LookupEnv("ATHIR_HANDOVER"); is {
		fd, _ := strconv.Atoi(value)
		f := os.NewFile(uintptr(fd), "handover")
		_, _ = f.Seek(0, 0)
		var e estate
		err := gob.NewDecoder(f).Decode(&e)
		text := make([]byte, 3)
		_, readErr := os.NewFile(uintptr(e.Files["file"]), "file").Read(text)
		fmt.Println("returned", e.Step-reexec.Step, string(e.Blobs["word"]), string(text), errors.Join(err, readErr))
		return 0
	}
	next, err := os.ReadFile(filepath.Join(dir, "next"))
	if err != nil {
		return 1
	}
	keep := func(path string) int {
		fd, _ := unix.Open(path, unix.O_RDONLY, 0)
		return fd
	}
	memory, _ := unix.MemfdCreate("handover", 0)
	err = gob.NewEncoder(os.NewFile(uintptr(memory), "handover")).Encode(estate{
		Step: reexec.Step + 2, Version: name, Program: keep("/proc/self/exe"),
		Files: map[string]int{"file": keep(filepath.Join(dir, "letters"))}, Blobs: map[string][]byte{"word": []byte("kept")},
	})
	if err == nil {
		err = unix.Exec(string(next), os.Args, append(os.Environ(), fmt.Sprintf("ATHIR_HANDOVER=%d", memory)))
	}
	fmt.Println("failed", err)
	return 1
}
