//go:build soak

package e2e

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ledger is what the station's programs and its folder take, again and again.
type ledger struct {
	samples []sampled
}

// sampled is one look. The figures of programs are by name.
type sampled struct {
	at                         time.Time
	resident, handles, threads map[string]int64 // MiB, descriptors, threads
	goroutines                 int64            // of the control plane
	disk                       int64            // bytes beneath the data directory
}

func (l *ledger) sample(s *station) {
	now := sampled{at: time.Now(), resident: map[string]int64{}, handles: map[string]int64{}, threads: map[string]int64{}}
	for _, p := range s.tree() {
		name := roleName(p)
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
		if err != nil {
			continue // it has just ended
		}
		field := func(key string) int64 {
			for line := range strings.Lines(string(text)) {
				if v, is := strings.CutPrefix(line, key+":"); is {
					n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(v), " kB"), 10, 64)
					return n
				}
			}
			return 0
		}
		files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.pid))
		now.resident[name] += field("VmRSS") >> 10
		now.threads[name] += field("Threads")
		now.handles[name] += int64(len(files))
	}
	if body, err := s.getAs("control", "/metrics", testStationKey); err == nil {
		for line := range strings.Lines(string(body)) {
			if v, is := strings.CutPrefix(line, "go_goroutines "); is {
				now.goroutines, _ = strconv.ParseInt(strings.TrimSpace(v), 10, 64)
			}
		}
	}
	_ = filepath.WalkDir(s.data, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				now.disk += info.Size()
			}
		}
		return nil
	})
	l.samples = append(l.samples, now)
}

// roleName is the role of a process of ours, or the program's name.
func roleName(p proc) string {
	args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
	words := strings.Split(string(args), "\x00")
	if len(words) > 2 && (filepath.Base(words[0]) == "athir" || slices.Contains(words, "--supervised")) {
		return words[1]
	}
	return p.name
}

// judge compares the first sixth with the last: nothing may have grown by half and some.
func (l *ledger) judge(t *testing.T) (page []string) {
	t.Helper()
	n := max(1, len(l.samples)/6)
	// The first look is of a station that has just begun.
	first, last := l.samples[min(1, len(l.samples)-1):min(n+1, len(l.samples))], l.samples[len(l.samples)-n:]
	compare := func(what, unit string, spare int64, of func(sampled) int64) {
		a, b, most := median(first, of), median(last, of), int64(0)
		for _, s := range l.samples {
			most = max(most, of(s))
		}
		page = append(page, fmt.Sprintf("%s: %d %s in the first hour, %d in the last, %d at most", what, a, unit, b, most))
		if b > a+a/2+spare {
			t.Errorf("%s grew from %d to %d %s", what, a, b, unit)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.samples[len(l.samples)-1].resident)) {
		compare(name+" memory", "MiB", 40, func(s sampled) int64 { return s.resident[name] })
		compare(name+" handles", "descriptors", 60, func(s sampled) int64 { return s.handles[name] })
	}
	compare("control goroutines", "goroutines", 60, func(s sampled) int64 { return s.goroutines })
	begin, end := l.samples[0], l.samples[len(l.samples)-1]
	hours := end.at.Sub(begin.at).Hours()
	page = append(page, fmt.Sprintf("data directory: %d MiB at the beginning, %d at the end, %.1f an hour", begin.disk>>20, end.disk>>20, float64(end.disk-begin.disk)/hours/(1<<20)))
	return page
}

func median(all []sampled, of func(sampled) int64) int64 {
	var out []int64
	for _, s := range all {
		out = append(out, of(s))
	}
	slices.Sort(out)
	if len(out) == 0 {
		return 0
	}
	return out[len(out)/2]
}
