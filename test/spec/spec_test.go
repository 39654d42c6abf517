// Package spec checks that SPEC.md does not promise what is not there.
package spec

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	quoted = regexp.MustCompile("`([^`]+)`")
	// later is what a row says that has no test.
	later = regexp.MustCompile(`^(not built yet|planned)( \([^()]+\))?$`)
	// goTest is a Go test or fuzz target; browser tests have titles with spaces.
	goTest = regexp.MustCompile(`^(Test|Fuzz)[A-Z]\w*$`)
)

const root = "../.."

// row is one row of SPEC.md.
type row struct {
	line     int
	what     string
	packages []string
	shown    string // the last cell
	tests    []string
}

func rows(t *testing.T) (all []row) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "SPEC.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| What is specified") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 3 {
			t.Errorf("SPEC.md:%d: %d cells, not 3", i+1, len(cells))
			continue
		}
		r := row{line: i + 1, what: strings.TrimSpace(cells[0]), shown: strings.TrimSpace(cells[2])}
		r.packages = names(cells[1])
		if !later.MatchString(r.shown) {
			r.tests = names(cells[2])
		}
		all = append(all, r)
	}
	if len(all) < 150 {
		t.Fatalf("read only %d rows: has the form of SPEC.md changed?", len(all))
	}
	return all
}

func names(cell string) (out []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}

func TestEveryRowNamesTestsThatExistOrSaysNotBuiltYet(t *testing.T) {
	sources := map[string]string{} // package to the text of its tests
	for _, r := range rows(t) {
		if r.what == "" {
			t.Errorf("SPEC.md:%d: says nothing", r.line)
		}
		for _, p := range r.packages {
			if _, seen := sources[p]; !seen {
				sources[p] = testsOf(t, r.line, p)
			}
		}
		if later.MatchString(r.shown) {
			continue
		}
		if len(r.tests) == 0 || len(r.packages) == 0 {
			t.Errorf("SPEC.md:%d: names no test and does not say 'not built yet' or 'planned': %s", r.line, r.what)
		}
		for _, name := range r.tests {
			if !found(sources, r.packages, name) {
				t.Errorf("SPEC.md:%d: no test %q in %v", r.line, name, r.packages)
			}
		}
	}
}

// testsOf reads the tests of a package, Go or browser.
func testsOf(t *testing.T, line int, pkg string) string {
	t.Helper()
	dir := filepath.Join(root, pkg)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Errorf("SPEC.md:%d: there is no package %s", line, pkg)
		return ""
	}
	var all strings.Builder
	for _, pattern := range []string{"*_test.go", "*.spec.ts"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}

func found(sources map[string]string, packages []string, name string) bool {
	for _, p := range packages {
		if goTest.MatchString(name) && strings.Contains(sources[p], "\nfunc "+name+"(") {
			return true
		}
		if !goTest.MatchString(name) && strings.Contains(sources[p], "test('"+name+"'") {
			return true
		}
	}
	return false
}

// The figures of the README and the settings file must not drift apart.
func TestPortsOfTheReadmeAreThoseOfTheSettings(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	settings, err := os.ReadFile(filepath.Join(root, "athir.example.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	ports := regexp.MustCompile(`(?m)^  (\w+): +(\d{4,5}) +#`).FindAllStringSubmatch(string(settings), -1)
	if len(ports) < 10 {
		t.Fatalf("read only %d ports from the settings", len(ports))
	}
	for _, p := range ports {
		named := regexp.MustCompile(`(?m)^\| [^|]*\b` + p[2] + `\b[^|]*\| [^|]*` + "`" + p[1] + "`")
		if !named.Match(readme) {
			t.Errorf("the README's table has no row for port %s (%s)", p[1], p[2])
		}
	}
}
