//go:build soak

package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// faults is the table. What lasts ten minutes by rights lasts half a one in the short form.
func faults() []fault {
	const long, brief = 10 * time.Minute, 30 * time.Second
	out := []fault{
		{name: "8 busy loops", lasts: long, short: 2 * time.Minute, alone: true, put: busyLoops},
		{name: "8 writers to the disk", lasts: long, short: brief, alone: true, put: busyDisk},
		{name: "no memory left", marks: true, lasts: long, short: brief, alone: true, needs: noMemoryGroup, with: []option{inMemoryGroup}, put: noMemory},
		{name: "data disk full", marks: true, lasts: long, short: brief, needs: noMount, with: []option{onSmallData}, put: fullData},
		{name: "data disk full, engine killed", marks: true, lasts: long, short: brief, needs: noMount, with: []option{onSmallData}, put: fullDataAndKill},
		{name: "media disk full", marks: true, lasts: long, short: brief, needs: noMount, with: []option{onSmallMedia}, put: fullMedia},
		{name: "media folder away", lasts: time.Minute, short: brief, put: mediaAway},
		{name: "playlist deleted", remit: true, fit: listWhole, put: once(func(h *harmed) error { return os.Remove(h.list()) })},
		{name: "playlist emptied", remit: true, fit: listWhole, put: once(func(h *harmed) error { return os.Truncate(h.list(), 0) })},
		{name: "playlist garbled", remit: true, fit: listWhole, put: once(garble)},
		{name: "source dropped each 5 s", lasts: time.Minute, short: brief, put: dropAgain},
		{name: "silent track", marks: true, remit: true, put: func(h *harmed) func() { h.airSilence(); return nil }},
		{name: "half of all tracks corrupt", marks: true, lasts: time.Minute, short: time.Minute, put: corrupt},
		{name: "8-hour track", marks: true, lasts: time.Minute, short: time.Minute, with: []option{withMastering}, fit: laterFileAirs, put: eightHours},
		{name: "10,000 idle connections", lasts: time.Minute, short: brief, alone: true, needs: fewFiles, put: idlers},
		{name: "clock leaps an hour ahead", marks: true, needs: noClock, with: []option{ownClock}, put: leap(time.Hour)},
		{name: "clock leaps an hour back", marks: true, needs: noClock, with: []option{ownClock}, put: leap(-time.Hour)},
		{name: "clock leaps to another day", marks: true, needs: noClock, with: []option{ownClock}, put: leap(26 * time.Hour)},
		{name: "bus away", lasts: time.Minute, short: brief, far: true, put: func(h *harmed) func() { h.parts["bus"].killed(); return h.parts["bus"].start }},
	}
	for _, name := range []string{"control–bus", "node–bus", "node–control", "control–Icecast", "control–path list", "control–harbor", "control–HLS"} {
		out = append(out, fault{name: name + " cut", lasts: time.Minute, short: brief, far: true, put: func(h *harmed) func() {
			h.links[name].cut()
			return h.links[name].mend
		}})
	}
	for _, name := range []string{"liquidsoap", "icecast", "control", "relay", "bridge", "nginx", "chat", "player", earProgram} {
		out = append(out,
			fault{name: name + " killed", remit: true, put: func(h *harmed) func() { h.send(name, syscall.SIGKILL); return nil }},
			fault{name: name + " stopped", remit: true, put: func(h *harmed) func() { h.send(name, syscall.SIGSTOP); return nil }})
	}
	return out
}

// once puts in what nobody takes away.
func once(put func(h *harmed) error) func(h *harmed) func() {
	return func(h *harmed) func() {
		if err := put(h); err != nil {
			h.t.Fatal(err)
		}
		return nil
	}
}

// earProgram decodes what the node hears; no program of the supervisor's.
const earProgram = "ear"

// send sends a signal to a program. What is stopped goes on when the test ends.
func (h *harmed) send(name string, sig syscall.Signal) {
	h.t.Helper()
	pid := 0
	if name != earProgram {
		p, err := h.process(name)
		if err != nil {
			h.t.Fatal(err)
		}
		pid = p.PID
	} else if pid = h.earPID(); pid == 0 {
		return // without a guard none listens
	}
	var was proc
	for _, p := range processes() {
		if p.pid == pid {
			was = p
		}
	}
	if err := syscall.Kill(pid, sig); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		if slices.Contains(processes(), was) {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	})
}

func (h *harmed) earPID() int {
	for _, p := range h.tree() {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
		if p.name == "ffmpeg" && bytes.Contains(line, []byte("pipe:0\x00-map\x000:a:0\x00-ac\x001")) {
			return p.pid
		}
	}
	return 0
}

func (h *harmed) list() string { return filepath.Join(h.data, "node", "main.m3u") }

func garble(h *harmed) error {
	noise := make([]byte, 4096)
	_, _ = rand.Read(noise)
	return os.WriteFile(h.list(), noise, 0o600)
}

// listWhole wants the list that is in place to be one that the station wrote.
func listWhole(h *harmed) error {
	text, err := os.ReadFile(h.list())
	if err == nil && !bytes.Contains(text, []byte(".mp3")) {
		err = errors.New("the list is not whole")
	}
	return err
}

// children runs a shell command so many times until ended.
func (h *harmed) children(n int, command string) (end func()) {
	h.t.Helper()
	var all []*exec.Cmd
	end = sync.OnceFunc(func() {
		for _, c := range all {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
			_ = c.Wait()
		}
	})
	h.t.Cleanup(end)
	for range n {
		c := exec.Command("sh", "-c", command)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			h.t.Fatal(err)
		}
		all = append(all, c)
	}
	return end
}

func busyLoops(h *harmed) func() { return h.children(8, "while :; do :; done") }

func busyDisk(h *harmed) func() {
	dir := h.t.TempDir() // of the disk that holds the station's data
	return h.children(8, fmt.Sprintf("while :; do dd if=/dev/zero of=%s/$$ bs=1M count=64 conv=fsync 2>/dev/null; done", dir))
}

// The memory group of a station, where Linux's first hierarchy of groups can be written.
const memoryGroups = "/sys/fs/cgroup/memory"

func noMemoryGroup() string {
	probe := filepath.Join(memoryGroups, fmt.Sprint("athir-probe-", os.Getpid()))
	if err := os.Mkdir(probe, 0o755); err != nil {
		return "a memory control group of its own: " + err.Error()
	}
	_ = os.Remove(probe)
	return ""
}

func (s *machine) memoryGroup() string {
	return filepath.Join(memoryGroups, fmt.Sprint("athir-", s.ports["control"]))
}

// inMemoryGroup has all of the station's memory counted from its start.
func inMemoryGroup(s *station) {
	group := s.memoryGroup()
	if err := os.Mkdir(group, 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = os.Remove(group) })
	s.launched = func(pid int) { write(s.t, filepath.Join(group, "cgroup.procs"), fmt.Sprint(pid)) }
}

// noMemory leaves the station 8 MiB more than it has, and a neighbour in its group who
// takes all there is again and again. The kernel kills him first.
func noMemory(h *harmed) func() {
	group := h.memoryGroup()
	limit := filepath.Join(group, "memory.limit_in_bytes")
	var used int
	text, err := os.ReadFile(filepath.Join(group, "memory.usage_in_bytes"))
	if err == nil {
		_, err = fmt.Sscan(string(text), &used)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	write(h.t, limit, fmt.Sprint(used+8<<20))
	end := h.children(1, fmt.Sprintf("echo $$ > %s/cgroup.procs; echo 1000 > /proc/$$/oom_score_adj; while :; do tail /dev/zero; done", group))
	return func() {
		end()
		write(h.t, limit, "-1")
	}
}

// noMount says why no small disk can be had.
func noMount() string {
	if os.Getuid() != 0 {
		return "root, who may mount a small disk"
	}
	return ""
}

func smallDisk(s *station, dir string, mib int) {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mib)); err != nil {
		s.t.Skipf("a small disk: %v", err)
	}
	s.t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			s.t.Error(err)
		}
	})
}

func onSmallData(s *station) {
	smallDisk(s, s.data, 64)
	rules(shortRules)(s)
}

func onSmallMedia(s *station) {
	smallDisk(s, s.media, 32)
	tenSeconds(s)
}

func (h *harmed) full(dir string) func() {
	empty, err := testkit.Fill(dir)
	if err != nil {
		h.t.Fatal(err)
	}
	return empty
}

func fullData(h *harmed) func() { return h.full(h.data) }

func fullDataAndKill(h *harmed) func() {
	empty := h.full(h.data)
	h.send("liquidsoap", syscall.SIGKILL)
	return empty
}

func fullMedia(h *harmed) func() { return h.full(h.media) }

func mediaAway(h *harmed) func() {
	h.unmount()
	return func() {
		if err := os.Rename(h.media+".away", h.media); err != nil {
			h.t.Fatal(err)
		}
	}
}

// dropAgain kicks the engine off Icecast every five seconds.
func dropAgain(h *harmed) func() {
	kick := h.kicker()
	ctx, cancel := context.WithCancel(h.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			kick()
			pause(ctx, 5*time.Second)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// corrupt writes noise over every other track.
func corrupt(h *harmed) func() {
	files, _ := filepath.Glob(filepath.Join(h.media, "*/*/*.mp3"))
	noise := make([]byte, 100_000)
	_, _ = rand.Read(noise)
	for i, f := range files {
		if i%2 == 0 {
			if err := os.WriteFile(f, noise, 0o600); err != nil {
				h.t.Fatal(err)
			}
		}
	}
	return nil
}

func withMastering(s *station) {
	s.env = append(s.env, "ATHIR_LIBRARY_MASTERING=true")
}

// longTrack is eight hours, made once: a minute of MP3, 480 times.
var longTrack = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(binary), "eight hours.mp3")
	minute, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=f=900:r=8000:d=60", "-ac", "1", "-b:a", "8k",
		"-write_xing", "0", "-id3v2_version", "0", "-f", "mp3", "-").Output()
	if err == nil {
		err = os.WriteFile(path, bytes.Repeat(minute, 480), 0o600)
	}
	return path, err
})

const eightHourFile, laterFile = "music/arabic_hits/tone 46 طويل.mp3", "music/arabic_hits/tone 45 جديد.mp3"

// eightHours puts a track of eight hours into the library and another one beside it.
func eightHours(h *harmed) func() {
	path, err := longTrack()
	if err != nil {
		h.t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	into := filepath.Join(h.media, eightHourFile)
	if out, err := exec.Command("cp", path, into).CombinedOutput(); err != nil {
		h.t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chtimes(into, old, old); err != nil {
		h.t.Fatal(err)
	}
	short, err := os.ReadFile(filepath.Join(h.media, "music/arabic_hits/tone 03 أغنية.mp3"))
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(h.media, laterFile), short, 0o600), os.Chtimes(filepath.Join(h.media, laterFile), old, old))
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return func() {}
}

// laterFileAirs wants a file that came with the long one to be known: nothing waits for the
// long one, which is taken or refused.
func laterFileAirs(h *harmed) error {
	st, err := h.status()
	if n := st.Library.Tracks + st.Library.Quarantined; err == nil && n < 14 {
		err = fmt.Errorf("%d files of 14", n)
	}
	return err
}

// fewFiles says whether this process may open enough of them.
func fewFiles() string {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil || l.Cur < 11_000 {
		return fmt.Sprintf("a limit of open files of 11000 (ulimit -n); it is %d", l.Cur)
	}
	return ""
}

// idlers hold 10,000 connections to Icecast from twenty addresses: one half says nothing,
// the other half of a request. Those that are closed come back.
func idlers(h *harmed) func() {
	ctx, cancel := context.WithCancel(h.t.Context())
	var all sync.WaitGroup
	for i := range 10_000 {
		all.Go(func() {
			from := &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%20))}
			pause(ctx, time.Duration(i)*300*time.Microsecond)
			for ctx.Err() == nil {
				c, err := (&net.Dialer{LocalAddr: from, Timeout: 5 * time.Second}).DialContext(ctx, "tcp", strings.TrimPrefix(h.url("icecast", ""), "http://"))
				if err == nil {
					if i%2 == 0 {
						_, _ = c.Write([]byte("GET /main HTT"))
					}
					stop := context.AfterFunc(ctx, func() { _ = c.Close() })
					_, _ = c.Read(make([]byte, 1))
					stop()
					_ = c.Close()
				}
				pause(ctx, time.Second)
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}
