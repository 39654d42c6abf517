package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
		line, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline")) //nolint:gosec // a path of digits
		if err != nil || len(line) == 0 {
			continue // gone meanwhile, or a zombie
		}
		args := bytes.Split(bytes.TrimSuffix(line, []byte{0}), []byte{0})
		if filepath.Base(string(args[0])) != program {
			continue
		}
		if slices.ContainsFunc(args[1:], func(a []byte) bool { return string(a) == arg }) {
			found = append(found, pid)
		}
	}
	slices.Sort(found)
	return found
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
