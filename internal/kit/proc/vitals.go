package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Vitals is what the kernel says of a process at one moment. What its threads have used
// and waited for only grows, except when a thread ends.
type Vitals struct {
	// State is the letter of proc(5): R running or ready, S asleep, D waiting for a disk,
	// T stopped by a signal, t stopped by a debugger, Z ended.
	State byte
	// Begun is when the process began, in clock ticks since boot. With the id it names
	// one process for good: the kernel gives ids again.
	Begun uint64
	// CPU is the processor time of all its threads.
	CPU time.Duration
	// Waited is for how long threads of it were ready to run and had no processor. Known
	// is false where the kernel does not count that.
	Waited time.Duration
	Known  bool
}

// tick is the unit of times in /proc/PID/stat: USER_HZ is 100 on every Linux that Go
// runs on.
const tick = 10 * time.Millisecond

// VitalsOf reads the vitals of a process. The error wraps os.ErrNotExist when it is gone.
func VitalsOf(pid int) (Vitals, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return Vitals{}, fmt.Errorf("read the state of process %d: %w", pid, err)
	}
	v, err := parseStat(stat)
	if err != nil {
		return Vitals{}, fmt.Errorf("read the state of process %d: %w", pid, err)
	}
	tasks, err := os.ReadDir(filepath.Join(dir, "task"))
	if err != nil {
		return v, nil //nolint:nilerr // it ended between two looks: the first one holds
	}
	ran := time.Duration(0)
	for _, task := range tasks {
		stat, err := os.ReadFile(filepath.Join(dir, "task", task.Name(), "schedstat"))
		if err != nil {
			continue // the thread ended, or the kernel keeps no such count
		}
		run, waited, ok := parseSchedstat(stat)
		if ok {
			ran, v.Waited, v.Known = ran+run, v.Waited+waited, true
		}
	}
	if v.Known {
		v.CPU = ran // in nanoseconds, where stat has ticks
	}
	return v, nil
}

// CPU is the processor time that a process has used, threads that have ended included,
// in ticks of 10 ms; 0 when it is gone.
func CPU(pid int) time.Duration {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	v, err := parseStat(stat)
	if err != nil {
		return 0
	}
	return v.CPU
}

// parseStat reads /proc/PID/stat. The program's name, in brackets, may hold anything.
func parseStat(stat []byte) (Vitals, error) {
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:])
	const state, user, system, begun = 0, 11, 12, 19 // counted from the name (proc(5))
	if end < 0 || len(fields) <= begun || len(fields[state]) != 1 {
		return Vitals{}, fmt.Errorf("%q is not as proc(5) says", stat)
	}
	ticks := [3]uint64{}
	for i, at := range []int{user, system, begun} {
		n, err := strconv.ParseUint(string(fields[at]), 10, 64)
		if err != nil {
			return Vitals{}, fmt.Errorf("%q is not as proc(5) says", stat)
		}
		ticks[i] = n
	}
	return Vitals{State: fields[state][0], CPU: time.Duration(ticks[0]+ticks[1]) * tick, Begun: ticks[2]}, nil //nolint:gosec // centuries
}

// parseSchedstat reads a thread's schedstat: nanoseconds run, nanoseconds waited for a
// processor, time slices.
func parseSchedstat(stat []byte) (run, waited time.Duration, ok bool) {
	fields := bytes.Fields(stat)
	if len(fields) < 2 {
		return 0, 0, false
	}
	a, errA := strconv.ParseInt(string(fields[0]), 10, 64)
	b, errB := strconv.ParseInt(string(fields[1]), 10, 64)
	return time.Duration(a), time.Duration(b), errA == nil && errB == nil
}
