package media

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// failingProgram puts a program before the real one that is killed, as by a kernel
// short of memory, the first times it is run.
func failingProgram(t *testing.T, name string, times int) {
	t.Helper()
	real, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\necho x >> '%[1]s/runs'\n[ $(wc -l < '%[1]s/runs') -gt %[2]d ] || kill -9 $$\nexec '%[3]s' \"$@\"\n", dir, times, real)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// The first two looks at a good file fail for the machine's sake. It is neither
// quarantined nor forgotten: it is registered as soon as the machine can.
func TestFileNotReadInTimeIsTriedAgainAndNeverQuarantined(t *testing.T) {
	root := t.TempDir()
	song := filepath.Join(root, "english", "fragmented.m4a") // its headers alone do not tell its length
	if err := os.Mkdir(filepath.Dir(song), 0o750); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=d=3", "-movflags", "frag_keyframe+empty_moov", song).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	failingProgram(t, "ffprobe", 2)
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	log, lines := testkit.Log(t)
	l, err := Open(t.Context(), db, Options{Root: root, Log: log, Settle: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	l.late.first = time.Millisecond
	defer testkit.Background(t, l.Run)()
	testkit.Eventually(t, "the file is registered", func() bool { return len(l.Snapshot().Tracks) == 1 })
	testkit.Eventually(t, "nothing is wrong any more", func() bool { return l.Snapshot().Problem == "" })
	if n := lines.Count("media file not read in time"); n != 2 {
		t.Errorf("put off %d times", n)
	}
	if strings.Contains(lines.String(), "media file quarantined") || len(l.Snapshot().Quarantined) > 0 {
		t.Errorf("quarantined: %+v", l.Snapshot().Quarantined)
	}
}

func TestLateFilesWaitEachForItselfAndEverLonger(t *testing.T) {
	log, _ := testkit.Log(t)
	p := &pass{lib: &Library{opt: Options{Log: log}}, scopes: []string{""}, late: map[string]lateFile{}, waiting: map[string]bool{}}
	l := lateFiles{first: lateFirst, files: map[string]lateFile{}}
	now := time.Unix(1e9, 0)
	stamp := fileStamp{size: 1}
	p.late["a"] = lateFile{file: stamp, reason: "slow"}
	var waits []time.Duration
	for range 9 {
		l.follow(p, now)
		wait := l.next().Sub(now)
		waits = append(waits, wait)
		if !l.waits("a", stamp, now.Add(wait-1)) || l.waits("a", stamp, now.Add(wait)) || l.waits("a", fileStamp{size: 2}, now) || l.waits("b", stamp, now) {
			t.Fatalf("after %v", waits)
		}
		now = now.Add(wait)
	}
	if got := fmt.Sprint(waits); got != "[30s 1m0s 2m0s 4m0s 8m0s 16m0s 32m0s 1h0m0s 1h0m0s]" {
		t.Errorf("waits are %s", got)
	}
	p.late = map[string]lateFile{"b": {file: stamp, reason: "slow"}}
	p.waiting["a"] = true // passed over
	if l.follow(p, now); len(l.files) != 2 || l.files["b"].until != now.Add(lateFirst) {
		t.Errorf("one file's failures count for another: %+v", l.files)
	}
	p.late, p.waiting = map[string]lateFile{}, map[string]bool{}
	if l.follow(p, now); len(l.files) != 0 || l.problem() != "" {
		t.Errorf("files that were read are still late: %+v", l.files)
	}
}
