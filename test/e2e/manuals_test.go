package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/test/docs"
)

// The commands of the manuals that look at a station, or do it no harm, are run as they
// stand there, against one of the test's own: its ports and folder are put in the place of
// theirs. What test/docs says that this test runs, and no other, is run here.
func TestTheManualsCommandsRun(t *testing.T) {
	t.Parallel()
	s := newStation(t, steady)
	// A backup of the station's own would keep those that are typed waiting.
	s.env = append(s.env, "ATHIR_MEDIA="+s.media, "ATHIR_CONTENT_IMAGING=false", "ATHIR_BACKUP_EVERY=0")
	s.start().whole()
	s.hlsReady()
	commands, err := docs.Commands("../..")
	if err != nil {
		t.Fatal(err)
	}
	api, err := docs.APIManuals("../..")
	if err != nil {
		t.Fatal(err)
	}
	m := newManual(s)
	ran := 0
	for _, c := range commands {
		for _, p := range c.Parts() {
			if docs.AtStation(p, api) {
				ran++
				m.run(p)
			}
		}
	}
	t.Logf("ran %d commands", ran)
	if ran < 30 {
		t.Errorf("ran only %d commands", ran)
	}
	m.key()
}

// manual types what manuals say.
type manual struct {
	*station
	bin    string // folder that is first in PATH: athir, and a sudo that is none
	backup string // a backup, for FILE
	swap   *strings.Replacer
	came   map[string]typing // of lines that were typed before: pages share them
}

type typing struct {
	out  string
	code int
}

func newManual(s *station) *manual {
	s.t.Helper()
	m := &manual{station: s, bin: s.t.TempDir(), came: map[string]typing{}}
	if err := os.Symlink(binary, filepath.Join(m.bin, "athir")); err != nil {
		s.t.Fatal(err)
	}
	// sudo COMMAND…, sudo -u USER COMMAND…: this station is ours.
	testkit.Executable(s.t, filepath.Join(m.bin, "sudo"), []byte("#!/bin/sh\n[ \"$1\" != -u ] || shift 2\nexec \"$@\"\n"))
	to := s.t.TempDir()
	out, code := m.sh("athir backup --data " + s.data + " --to " + to)
	made, _ := filepath.Glob(filepath.Join(to, "*.tar.zst"))
	if code != 0 || len(made) != 1 {
		s.t.Fatalf("a backup: %d %q %s", code, made, out)
	}
	m.backup = made[0]
	pairs := []string{"--data DIR", "--data " + s.data, "--data data", "--data " + s.data, "/var/lib/athir", s.data, "bin/athir", "athir", "x-station-key: KEY", "x-station-key: " + s.key(), "127.0.0.1:19353", s.host("paths")}
	for address, name := range doorways {
		pairs = append(pairs, address, s.host(name))
	}
	m.swap = strings.NewReplacer(pairs...)
	return m
}

func (s *machine) host(port string) string { return strings.TrimPrefix(s.url(port, ""), "http://") }

// sh runs a line in a folder of its own, in the station's environment.
func (m *manual) sh(line string) (out string, code int) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-c", line)
	shell.Dir = m.t.TempDir()
	shell.Env = append(append(os.Environ(), m.env...), "PATH="+m.bin+":"+os.Getenv("PATH"), "AT="+m.url("control", ""), "KEY=x-station-key: "+m.machine.key())
	text, err := shell.CombinedOutput()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		return string(text), ended.ExitCode()
	case err != nil:
		return string(text) + err.Error(), -1
	}
	return string(text), 0
}

// outcomes are the commands that may end with something else than 0 here, by what they begin
// with, and what they say then.
var outcomes = []struct {
	begins, says string
	codes        []int
}{
	{"athir alarm test", "no receiver is set up", []int{1}},
	{"athir doctor", " wrong, ", []int{0, 1}}, // on a busy machine a program does not answer it in time
	{"curl -s -o >(head", "200 ", []int{23}},  // it would listen for ever
}

// run types one command and judges what comes.
func (m *manual) run(p docs.Part) {
	m.t.Helper()
	line := m.line(p)
	m.t.Run(p.File+" "+strings.Join(p.Words, " "), func(t *testing.T) {
		known, before := m.came[line]
		if !before {
			known.out, known.code = (&manual{station: &station{t, m.machine}, bin: m.bin}).sh(line)
			m.came[line] = known
		}
		out, code := known.out, known.code
		want, says := []int{0}, ""
		for _, o := range outcomes {
			if strings.HasPrefix(line, o.begins) {
				want, says = o.codes, o.says
			}
		}
		if !slices.Contains(want, code) || !strings.Contains(out, says) {
			t.Errorf("%s:%d: %s\nends with %d, want %d and %q:\n%.2000s", p.File, p.Line, line, code, want, says, out)
			return
		}
		m.prints(t, p, out)
	})
}

// line is what is typed: as it stands there, with this station in the place of theirs, asked
// for nothing beyond this machine, and with curl failing where an answer does.
func (m *manual) line(p docs.Part) string {
	text := p.Text
	if parts := p.Parts(); len(parts) > 1 { // its own part of a line with several
		text = strings.Join(p.Words, " ")
	}
	line := strings.TrimPrefix(m.swap.Replace(text), "sudo -u athir ")
	switch {
	case strings.HasPrefix(line, "curl "):
		line = "curl -sS --fail-with-body" + strings.TrimPrefix(line, "curl")
		if strings.Contains(text, "-m 5") { // until there is enough, however long that takes here
			line = strings.Replace(m.swap.Replace(text), "-m 5 -o /dev/null", "-o >(head -c 65536 >/dev/null)", 1)
		}
	case strings.Contains(line, "athir doctor"):
		line += " --offline"
	case strings.Contains(line, "athir restore "): // under a running station it is refused
		line = strings.ReplaceAll(line, m.data, filepath.Join(m.t.TempDir(), "elsewhere"))
	case strings.Contains(line, "athir content refresh") || strings.HasPrefix(line, "athir backup --json"): // of ./data
		line += " --data " + m.data
	}
	line = strings.ReplaceAll(line, " FILE", " "+m.backup)
	if strings.Contains(line, " /mnt/usb") {
		line = strings.ReplaceAll(line, "/mnt/usb", m.t.TempDir())
	}
	if strings.HasPrefix(line, "tar ") && strings.Contains(p.Text, " > ") { // not over the settings in use
		line = strings.Join(docs.Words(line)[:5], " ")
	}
	return line
}

// printed are the words of a table that a command prints.
var printed = regexp.MustCompile("`([^`]+)`")

// prints holds a row's last cell to what came: the words in it that stand for output.
func (m *manual) prints(t *testing.T, p docs.Part, out string) {
	t.Helper()
	if p.File != "docs/operate.md" || len(p.Cells) != 3 || strings.Contains(p.Text, "alarm test") { // this station tells nobody
		return
	}
	promised, _, _ := strings.Cut(p.Cells[2], ";")
	for _, word := range printed.FindAllStringSubmatch(promised, -1) {
		pattern := regexp.MustCompile(`\d+`).ReplaceAllString(regexp.QuoteMeta(word[1]), `\d+`)
		if !regexp.MustCompile(pattern).MatchString(out) {
			t.Errorf("%s:%d: %s prints no %s:\n%.2000s", p.File, p.Line, p.Text, word[1], out)
		}
	}
}

// key has the operator's chapter find the station key by the line that it gives.
func (m *manual) key() {
	m.t.Helper()
	text, err := os.ReadFile("../../docs/operate.md")
	if err != nil {
		m.t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "KEY=") })
	if i < 0 {
		m.t.Fatal("docs/operate.md does not say how to have KEY")
	}
	if out, code := m.sh(m.swap.Replace(lines[i]) + "\nprintf %s \"$KEY\""); code != 0 || out != "x-station-key: "+m.machine.key() || m.machine.key() == "" {
		m.t.Errorf("docs/operate.md:%d: %d %q", i+1, code, out)
	}
}
