package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Find lists the processes that run the named program with arg among their
// arguments, whoever started them, lowest id first. A script or configuration
// path as arg tells one station's worker from its neighbour's, and from an
// editor that has the same file open.
func Find(program, arg string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		args := Arguments(pid)
		if args == nil || filepath.Base(args[0]) != program {
			continue
		}
		if slices.Contains(args[1:], arg) {
			found = append(found, pid)
		}
	}
	slices.Sort(found)
	return found
}

// Arguments are those of a process, its program first; nil when it is gone, or a zombie.
func Arguments(pid int) []string {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil || len(line) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
}

// RSS is the memory of a process that is in use, in bytes; 0 when it is gone.
func RSS(pid int) int64 {
	statm, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(statm)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
