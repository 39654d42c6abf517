package house

import (
	"bytes"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// withoutRace are the packages whose tests run without the race detector.
func withoutRace(t *testing.T) (packages []string) {
	t.Helper()
	text, err := os.ReadFile("without-race.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			packages = append(packages, line)
		}
	}
	return packages
}

// What shares memory between goroutines is tested with the race detector.
func TestPackagesWithoutTheRaceDetectorHaveNoGoroutines(t *testing.T) {
	shared := []string{"sync", "sync/atomic", "net", "net/http", "os/exec", "golang.org/x/sync/errgroup", "testing/synctest"}
	listed, seen := withoutRace(t), map[string]bool{}
	for _, s := range sources(t) {
		if !slices.Contains(listed, s.pkg) {
			continue
		}
		seen[s.pkg] = true
		if strings.HasPrefix(s.pkg, "test/") {
			continue // these tests read files, and parse them once
		}
		for _, imp := range imports(s) {
			if slices.Contains(shared, imp) {
				t.Errorf("%s: imports %s: take %s out of without-race.txt", s.path, imp, s.pkg)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: starts a goroutine: take %s out of without-race.txt", s.fset.Position(n.Pos()), s.pkg)
			case *ast.SelectorExpr:
				if n.Sel.Name == "Parallel" {
					t.Errorf("%s: runs tests side by side: take %s out of without-race.txt", s.fset.Position(n.Pos()), s.pkg)
				}
			}
			return true
		})
	}
	for _, pkg := range listed {
		if !seen[pkg] {
			t.Errorf("without-race.txt lists %s, which is not there", pkg)
		}
	}
}

// Soak tests are told from the others by name, tag and file alike.
func TestFilesOfSoakTestsAreMarked(t *testing.T) {
	for _, s := range sources(t) {
		file, tag := strings.HasSuffix(s.path, "_soak_test.go"), bytes.HasPrefix(s.text, []byte("//go:build soak\n"))
		if file != tag {
			t.Errorf("%s: a soak test stands in a file *_soak_test.go whose first line is //go:build soak", s.path)
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.isTest() && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") &&
				strings.HasPrefix(f.Name.Name, "TestSoak") != file {
				t.Errorf("%s: %s: the tests of a soak file, and no others, begin with TestSoak", s.path, f.Name.Name)
			}
		}
	}
}

// A deliberate fault names a test that exists.
func TestFaultsNameTheirTests(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := filepath.Glob(filepath.Join(root, "test", "faults", "*.patch"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 12 {
		t.Errorf("test/faults holds %d faults, want at least 12", len(files))
	}
	tests := map[string]map[string]bool{} // by package
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.isTest() {
				if tests[s.pkg] == nil {
					tests[s.pkg] = map[string]bool{}
				}
				tests[s.pkg][f.Name.Name] = true
			}
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		test := field(text, "test")
		switch pkg, spec := field(text, "package"), field(text, "web"); {
		case field(text, "fault") == "" || test == "":
			t.Errorf("%s: its head lacks fault or test", name)
		case pkg != "" && !tests[strings.TrimPrefix(pkg, "./")][test]:
			t.Errorf("%s: %s has no test %s", name, pkg, test)
		case spec != "":
			body, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(spec)))
			if err != nil || !bytes.Contains(body, []byte(test)) {
				t.Errorf("%s: %s has no test %q", name, spec, test)
			}
		case pkg == "":
			t.Errorf("%s: its head lacks package or web", name)
		}
	}
}

// field is a line of a fault's head.
func field(text []byte, name string) string {
	m := regexp.MustCompile("(?m)^" + name + ": (.+)$").FindSubmatch(text)
	if m == nil {
		return ""
	}
	return string(m[1])
}

// One truth for each rule: what the guide for contributors states is what is checked.
func TestContributingStatesTheLimitOfFiles(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []byte("under 600 lines"); !bytes.Contains(text, want) || fileLimit != 600 {
		t.Errorf("CONTRIBUTING.md and the check (%d lines) do not state the same limit", fileLimit)
	}
}

// What docs/testing.md says proves something now is there.
func TestTheTableOfMovedTestsNamesTestsThatExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.isTest() {
				there[f.Name.Name] = true
			}
		}
	}
	named := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 {
			continue
		}
		for _, m := range regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]+)`").FindAllStringSubmatch(cells[1]+cells[2], -1) {
			named++
			if !there[m[1]] {
				t.Errorf("docs/testing.md: there is no test %s", m[1])
			}
		}
	}
	if named < 20 {
		t.Errorf("docs/testing.md names only %d tests: has its form changed?", named)
	}
}
