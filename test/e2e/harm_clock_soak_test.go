//go:build soak

package e2e

import (
	order "encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// A clock of the station's own, which leaps while the machine's goes on: Go's standard
// library is compiled with another time.Now, which adds what a file says to the time of
// day and not to the clock that only runs, and all other programs have libfaketime.

// faketime is the library, as Debian's libfaketime has it.
const faketime = "/usr/lib/*/faketime/libfaketimeMT.so.1"

// leapVariable names the file: eight bytes, the seconds by which the clock has leapt.
const leapVariable = "TEST_CLOCK_LEAP"

func noClock() string {
	if found, _ := filepath.Glob(faketime); len(found) == 0 {
		return "libfaketime (apt-get install libfaketime)"
	}
	return ""
}

// leapingProgram is the program under test with that clock, built once.
var leapingProgram = sync.OnceValues(func() (string, error) {
	dir := filepath.Dir(binary)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src/time/time.go")
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	const now = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if strings.Count(string(text), now) != 1 {
		return "", fmt.Errorf("time.Now of %s is not the one that is known here", runtime.Version())
	}
	patched := filepath.Join(dir, "time.go")
	added := filepath.Join(dir, "leap.go")
	err = os.WriteFile(patched, []byte(strings.Replace(string(text), now, now+"\tif leapt != nil {\n\t\tsec += *leapt\n\t}\n", 1)), 0o600)
	if err == nil {
		err = os.WriteFile(added, []byte(leapSource), 0o600)
	}
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		original: patched, filepath.Join(filepath.Dir(original), "leap_of_tests.go"): added,
	}})
	if err != nil {
		return "", err
	}
	plan, path := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "athir-leaping")
	if err := os.WriteFile(plan, overlay, 0o600); err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-overlay", plan, "-o", path, "../../cmd/athir")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build with a clock that leaps: %w\n%s", err, out)
	}
	return path, nil
})

const leapSource = `package time

import (
	"syscall"
	"unsafe"
)

var leapt *int64

func init() {
	path, ok := syscall.Getenv("` + leapVariable + `")
	if !ok {
		return
	}
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		panic("the clock of the tests: " + err.Error())
	}
	page, err := syscall.Mmap(fd, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic("the clock of the tests: " + err.Error())
	}
	leapt = (*int64)(unsafe.Pointer(&page[0]))
}
`

// ownClock gives a station the clock.
func ownClock(s *station) {
	program, env := clockOf(s.t, s.data, 0)
	s.program, s.env = program, append(s.env, env...)
}

// clockOf is the program with the clock of a data directory, and what it takes of the environment.
func clockOf(t *testing.T, data string, by time.Duration) (program string, env []string) {
	t.Helper()
	program, err := leapingProgram()
	if err != nil {
		t.Fatal(err)
	}
	library, _ := filepath.Glob(faketime)
	if len(library) == 0 {
		t.Fatalf("clocks of their own need %s", noClock())
	}
	setClock(t, data, by)
	return program, []string{leapVariable + "=" + clockFile(data), "LD_PRELOAD=" + library[0], "FAKETIME_TIMESTAMP_FILE=" + clockFile(data) + ".rc",
		"FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1"}
}

func clockFile(data string) string { return filepath.Join(filepath.Dir(data), "clock") }

// setClock writes both files in place: programs look at them all the time.
func setClock(t *testing.T, data string, by time.Duration) {
	t.Helper()
	for path, text := range map[string][]byte{
		clockFile(data):         order.NativeEndian.AppendUint64(nil, uint64(int64(by/time.Second))),
		clockFile(data) + ".rc": fmt.Appendf(nil, "%+d\n", int64(by/time.Second)),
	} {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
		if err == nil {
			_, err = f.WriteAt(text, 0)
			_ = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// leap moves the clock, and it stays there.
func leap(by time.Duration) func(h *harmed) func() {
	return func(h *harmed) func() {
		before := h.clock()
		setClock(h.t, h.data, by)
		h.eventually("the station's clock has leapt", func() bool { return (h.clock() - before - by).Abs() < time.Minute })
		return nil
	}
}

// clock is by how much the station's clock is off the machine's, as its status tells.
func (h *harmed) clock() time.Duration {
	body, err := h.get("control", "/api/status")
	var st struct{ ServerTime int64 }
	if err == nil {
		err = json.Unmarshal(body, &st)
	}
	if err != nil {
		return 0
	}
	return time.Until(time.UnixMilli(st.ServerTime))
}
