package logfile_test

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/kit/logfile"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// TestMain doubles as another process that writes the same log.
func TestMain(m *testing.M) {
	if path := os.Getenv("LOGFILE_TEST_PATH"); path != "" {
		f, err := logfile.Open(logfile.Options{Path: path, Size: 20_000})
		if err != nil {
			panic(err)
		}
		write(f, os.Getenv("LOGFILE_TEST_NAME"), 3000)
		return
	}
	if dir := os.Getenv("LOGFILE_TEST_FULL_DISK"); dir != "" {
		testkit.Told(func() error { return onAFullDisk(dir) })
	}
	os.Exit(m.Run())
}

func write(f *logfile.File, name string, lines int) {
	for i := range lines {
		if _, err := fmt.Fprintf(f, "%s %d %s\n", name, i, strings.Repeat("x", i%50)); err != nil {
			panic(err)
		}
	}
}

func open(t *testing.T, opt logfile.Options) *logfile.File {
	t.Helper()
	f, err := logfile.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func tail(t *testing.T, path string, n int) []string {
	t.Helper()
	lines, err := logfile.Tail(path, n)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestTheNewestLinesAreKeptInTwoFilesOfBoundedSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log", "server.log")
	if lines := tail(t, path, 10); len(lines) != 0 {
		t.Errorf("a log that is not there: %q", lines)
	}
	f := open(t, logfile.Options{Path: path, Size: 1000})
	for i := range 500 {
		if _, err := fmt.Fprintf(f, "line %d of %s\n", i, "أثير"); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{path, path + ".1"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > 1000 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %d bytes, mode %o", name, info.Size(), info.Mode().Perm())
		}
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 2 {
		t.Errorf("%d files", len(entries))
	}
	for _, n := range []int{1, 7, 40} { // more than the newer file holds, too
		lines := tail(t, path, n)
		if len(lines) != n {
			t.Fatalf("%d lines of %d", len(lines), n)
		}
		for i, line := range lines {
			if want := fmt.Sprintf("line %d of أثير", 500-n+i); line != want {
				t.Errorf("line %d of %d: %q, want %q", i, n, line, want)
			}
		}
	}
	if lines := tail(t, path, 10_000); len(lines) < 41 || len(lines) > 100 || lines[len(lines)-1] != "line 499 of أثير" {
		t.Errorf("all there is: %d lines", len(lines))
	}
	// A restart goes on where the last run ended.
	again := open(t, logfile.Options{Path: path, Size: 1000})
	if _, err := again.Write([]byte("after a restart\n")); err != nil {
		t.Fatal(err)
	}
	if lines := tail(t, path, 2); lines[0] != "line 499 of أثير" || lines[1] != "after a restart" {
		t.Errorf("%q", lines)
	}
}

func TestTailReadsFromTheEndAndShowsWholeLinesOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	var b strings.Builder
	for i := range 60_000 {
		fmt.Fprintln(&b, "line", i)
	}
	long := strings.Repeat("é", 300_000)
	b.WriteString(long + "\nbad \xff\xfe byte\n\nbeing writ")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := tail(t, path, 2000)
	if len(lines) != 2000 {
		t.Fatalf("%d lines", len(lines))
	}
	end := lines[1996:]
	if end[0] != "line 59999" || end[2] != "bad � byte" || end[3] != "" {
		t.Errorf("%.40q", end)
	}
	if len(end[1]) > 5000 || !strings.HasPrefix(long, strings.TrimRight(end[1], "�")) {
		t.Errorf("a long line is shown with %d bytes", len(end[1]))
	}
	if lines[0] != "line 58003" {
		t.Errorf("the first: %q", lines[0])
	}
	// No line end in all that may be read: nothing, rather than all of it.
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 20<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	if lines := tail(t, path, 10); len(lines) != 0 {
		t.Errorf("%d lines", len(lines))
	}
}

// Control plane and supervisor write one file: no line is torn, and what the
// two files hold of each writer is its newest lines without a gap.
func TestSeveralProcessesWriteOneLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.log")
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), "LOGFILE_TEST_PATH="+path, "LOGFILE_TEST_NAME=process"+strconv.Itoa(i))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	f := open(t, logfile.Options{Path: path, Size: 20_000})
	for i := range 2 {
		all.Go(func() { write(f, "goroutine"+strconv.Itoa(i), 3000) })
	}
	defer all.Wait() // a failed check does not close the file under its writers
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		check(t, tail(t, path, 2000))
	}
	lines := tail(t, path, 2000)
	check(t, lines)
	if len(lines) < 200 {
		t.Errorf("only %d lines are left", len(lines))
	}
	for _, name := range []string{path, path + ".1"} {
		if info, err := os.Stat(name); err != nil || info.Size() > 21_000 {
			t.Errorf("%s: %v", name, info)
		}
	}
}

// check finds lines that are torn, doubled, or out of their writer's order.
func check(t *testing.T, lines []string) {
	t.Helper()
	last := map[string]int{}
	for _, line := range lines {
		parts := strings.Split(line, " ")
		if len(parts) != 3 {
			t.Fatalf("torn: %q", line)
		}
		n, err := strconv.Atoi(parts[1])
		if err != nil || parts[2] != strings.Repeat("x", n%50) {
			t.Fatalf("torn: %q", line)
		}
		if was, seen := last[parts[0]]; seen && n != was+1 {
			t.Fatalf("%s: %d after %d", parts[0], n, was)
		}
		last[parts[0]] = n
	}
}

func TestSecretsAreNeverWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.log")
	secrets := []string{"hunter22", "hunter2", `with"quote\`, "", "abc"}
	f := open(t, logfile.Options{Path: path, Secrets: func() []string { return secrets }})
	log := slog.New(slog.NewTextHandler(f, nil)).With("url", "http://source:hunter22@x/")
	log.Info("tried hunter2", "password", `with"quote\`, "hunter22", "as a name", "word", "abcdef")
	text, err := os.ReadFile(path) //nolint:gosec // the test's own
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"hunter", "quote"} {
		if strings.Contains(string(text), s) {
			t.Errorf("%s stands in %s", s, text)
		}
	}
	if !strings.Contains(string(text), "word=abcdef") || strings.Count(string(text), "[secret]") != 4 {
		t.Errorf("%s", text)
	}
}
