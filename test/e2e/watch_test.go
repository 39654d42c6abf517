package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fsnotify/fsnotify"
)

// watchDir signals the first write to a playlist file or its journal.
func watchDir(t *testing.T, dir string) <-chan struct{} {
	t.Helper()
	w, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(dir); err != nil {
		t.Fatal(err)
	}
	first := make(chan struct{})
	go func() {
		defer w.Close() //nolint:errcheck // a test
		for e := range w.Events {
			if e.Has(fsnotify.Write) && strings.Contains(filepath.Base(e.Name), "main.m3u") {
				close(first)
				return
			}
		}
	}()
	return first
}

// pidsOf finds the processes of one of our roles on a data directory.
func pidsOf(data, role string) (out []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		line, err := os.ReadFile(f)
		args := bytes.Split(line, []byte{0})
		if err != nil || len(args) < 4 || string(args[1]) != role || !slices.ContainsFunc(args[2:], func(a []byte) bool { return string(a) == data }) {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(f, "/")[2]); err == nil {
			out = append(out, pid)
		}
	}
	return out
}
