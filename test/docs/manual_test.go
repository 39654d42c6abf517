package docs

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func parts(t *testing.T) (all []Part) {
	t.Helper()
	commands, err := Commands(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		all = append(all, c.Parts()...)
	}
	if len(all) < 400 {
		t.Fatalf("read only %d commands: has the form of the manuals changed?", len(all))
	}
	return all
}

// Whatever a manual has somebody type is run by a test, or held to the sources, or cannot be
// and says why.
func TestEveryCommandOfTheManualsIsTried(t *testing.T) {
	api, err := APIManuals(root)
	if err != nil || len(api) < 10 {
		t.Fatalf("the manuals of TestManualsAreTrue: %q %v", api, err)
	}
	used := make([]bool, len(NotRun))
	for _, p := range parts(t) {
		_, ours := p.Athir()
		known := ours || AtStation(p, api)
		if i := Why(p); i >= 0 {
			used[i], known = true, true
		}
		switch first := p.Words[0]; {
		case first == "curl" && slices.Contains(api, p.File):
			known = true
		case first == "go":
			known = true
			goCommand(t, p)
		case first == "make":
			known = true
			makeCommand(t, p)
		case strings.HasPrefix(first, "scripts/"):
			known = true
			if info, err := os.Stat(filepath.Join(root, first)); err != nil || info.Mode()&0o111 == 0 {
				t.Errorf("%s:%d: %s is no program", p.File, p.Line, first)
			}
		case first == "sed" && (p.File == "docs/https.md" || p.File == "docs/containers.md"):
			known = true
			sedCommand(t, p)
		}
		if !known {
			t.Errorf("%s:%d: nothing tries `%s`: make it one that test/e2e runs (AtStation), or say in test/docs/elsewhere.go why not", p.File, p.Line, strings.Join(p.Words, " "))
		}
	}
	for i, e := range NotRun {
		if !used[i] {
			t.Errorf("NotRun speaks of %s %q, which no manual says", e.File, e.Begins)
		}
		if pkg, name, found := strings.Cut(e.Test, " "); found && !slices.Contains(targets(t, pkg, true), name) {
			t.Errorf("NotRun: %s has no test %s", pkg, name)
		}
	}
}

var (
	target  = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w*)\(`)
	mainish = regexp.MustCompile(`(?m)^package main$`)
)

// targets are the tests and benchmarks of a package, those behind the tag soak included or
// not.
func targets(t *testing.T, pkg string, soak bool) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(text), "//go:build soak") && !soak {
			continue
		}
		for _, m := range target.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// goCommand wants the package to be there, what it selects, and the flags of what it runs.
func goCommand(t *testing.T, p Part) {
	t.Helper()
	if p.Words[1] == "run" {
		goRun(t, p)
		return
	}
	var flags flag.FlagSet
	flags.Init("go test", flag.ContinueOnError)
	flags.SetOutput(t.Output())
	only, bench, tags := flags.String("run", "", ""), flags.String("bench", "", ""), flags.String("tags", "", "")
	for _, name := range []string{"v", "race"} {
		flags.Bool(name, false, "")
	}
	for _, name := range []string{"timeout", "benchtime", "count", "fuzz", "fuzztime"} {
		flags.String(name, "", "")
	}
	var packages []string
	for rest := p.Words[2:]; len(rest) > 0; { // flags may follow the packages
		if err := flags.Parse(rest); err != nil {
			t.Errorf("%s:%d: %s: %v", p.File, p.Line, p.Text, err)
			return
		}
		if rest = flags.Args(); len(rest) > 0 {
			packages, rest = append(packages, rest[0]), rest[1:]
		}
	}
	var all []string
	for _, pkg := range packages {
		dir, below := strings.CutSuffix(strings.TrimPrefix(pkg, "./"), "/...")
		if strings.Contains(dir, "internal/the/package") {
			return // anybody's
		}
		if info, err := os.Stat(filepath.Join(root, dir)); err != nil || !info.IsDir() {
			t.Errorf("%s:%d: there is no %s", p.File, p.Line, pkg)
		}
		names := targets(t, dir, *tags == "soak")
		if len(names) == 0 && !below {
			t.Errorf("%s:%d: %s has no tests", p.File, p.Line, pkg)
		}
		all = append(all, names...)
	}
	selects := func(pattern, kind string) {
		for _, one := range strings.Split(pattern, "|") {
			want, err := regexp.Compile(one)
			if err != nil || !slices.ContainsFunc(all, func(n string) bool { return strings.HasPrefix(n, kind) && want.MatchString(n) }) {
				t.Errorf("%s:%d: %s selects nothing in %s", p.File, p.Line, one, strings.Join(packages, " "))
			}
		}
	}
	if *bench != "" { // beside it -run says that no test is wanted
		selects(*bench, "Benchmark")
	} else if *only != "" {
		selects(*only, "Test")
	}
}

// goRun wants a program, and in its sources the flags that it is given.
func goRun(t *testing.T, p Part) {
	t.Helper()
	sources := ""
	files, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(p.Words[2]), "*.go"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources += string(text)
	}
	if !mainish.MatchString(sources) {
		t.Errorf("%s:%d: %s is no program", p.File, p.Line, p.Words[2])
	}
	for _, word := range p.Words[3:] {
		if name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "="); strings.HasPrefix(word, "-") && !strings.Contains(sources, `"`+name+`"`) {
			t.Errorf("%s:%d: %s has no flag %s", p.File, p.Line, p.Words[2], word)
		}
	}
}

func makeCommand(t *testing.T, p Part) {
	t.Helper()
	makefile := read(t, "Makefile")
	for _, word := range p.Words[1:] {
		name, _, variable := strings.Cut(word, "=")
		if variable && !strings.Contains(makefile, "$("+name+")") && !strings.Contains(read(t, "scripts/fuzz.sh"), name) || !variable && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(name)+`:`).MatchString(makefile) {
			t.Errorf("%s:%d: the Makefile has no %s", p.File, p.Line, name)
		}
	}
}

// sedCommand leaves nothing of the example's name in the file that it edits.
func sedCommand(t *testing.T, p Part) {
	t.Helper()
	if strings.HasPrefix(p.Words[1], "-") { // see NotRun
		return
	}
	sed := exec.CommandContext(t.Context(), p.Words[0], strings.ReplaceAll(p.Words[1], "$NAME", "athir.test"), p.Words[2])
	sed.Dir = root
	out, err := sed.Output()
	if err != nil || strings.Contains(string(out), "radio.example") || !strings.Contains(string(out), "athir.test") {
		t.Errorf("%s:%d: %v, and the file names radio.example %d times", p.File, p.Line, err, strings.Count(string(out), "radio.example"))
	}
}
