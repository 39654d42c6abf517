package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each fault of test/faults fits the code, and the test that is to catch it is there: make
// faults, which takes long, is not the first to notice.
func TestFaultsFitTheCode(t *testing.T) {
	faults, err := filepath.Glob("../faults/*.patch")
	if err != nil || len(faults) == 0 {
		t.Fatalf("no faults: %v", err)
	}
	for _, path := range faults {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^--- a/(.*)$`).FindAllSubmatch(text, -1) {
			_, _ = os.Stat(filepath.Join("../..", string(m[1]))) // for the test cache, which does not see what git reads
		}
		check := exec.Command("git", "apply", "--check", filepath.Join("test/faults", filepath.Base(path)))
		check.Dir = "../.."
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s does not fit the code any more: make the same fault anew\n%s", path, out)
		}
		head := map[string]string{}
		for _, m := range regexp.MustCompile(`(?m)^(package|test): (.*)$`).FindAllSubmatch(text, -1) {
			head[string(m[1])] = string(m[2])
		}
		if head["package"] == "" {
			continue // a test of the pages
		}
		tests, err := filepath.Glob(filepath.Join("../..", head["package"], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range tests {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(source), "\nfunc "+head["test"]+"(")
		}
		if !found {
			t.Errorf("%s: %s has no test %s", path, head["package"], head["test"])
		}
	}
}
