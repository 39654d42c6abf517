// Command check is the vet tool of 'make lint': what go vet finds, unchecked
// errors, and those of staticcheck's analyzers that look at one package at a
// time. The others build the intermediate form of every dependency, SQLite's
// among them, which takes minutes: they are in 'make lint-all'.
//
// A finding on a line that carries a nolint comment naming its check is silent.
package main

import (
	"go/token"
	"regexp"
	"slices"
	"strings"

	"github.com/kisielk/errcheck/errcheck"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/appends"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/atomicalign"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/composite"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/deepequalerrors"
	"golang.org/x/tools/go/analysis/passes/defers"
	"golang.org/x/tools/go/analysis/passes/directive"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/hostport"
	"golang.org/x/tools/go/analysis/passes/httpresponse"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/lostcancel"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/nilness"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/reflectvaluecompare"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/slog"
	"golang.org/x/tools/go/analysis/passes/sortslice"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/testinggoroutine"
	"golang.org/x/tools/go/analysis/passes/tests"
	"golang.org/x/tools/go/analysis/passes/timeformat"
	"golang.org/x/tools/go/analysis/passes/unmarshal"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/analysis/passes/unusedwrite"
	"golang.org/x/tools/go/analysis/passes/waitgroup"
	"golang.org/x/tools/go/analysis/unitchecker"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
)

func main() {
	analyzers := []*analysis.Analyzer{
		appends.Analyzer, assign.Analyzer, atomic.Analyzer, atomicalign.Analyzer, bools.Analyzer, buildtag.Analyzer,
		composite.Analyzer, copylock.Analyzer, deepequalerrors.Analyzer, defers.Analyzer, directive.Analyzer,
		errorsas.Analyzer, hostport.Analyzer, httpresponse.Analyzer, ifaceassert.Analyzer, lostcancel.Analyzer,
		nilfunc.Analyzer, nilness.Analyzer, printf.Analyzer, reflectvaluecompare.Analyzer, shift.Analyzer,
		sigchanyzer.Analyzer, slog.Analyzer, sortslice.Analyzer, stdmethods.Analyzer, stringintconv.Analyzer,
		structtag.Analyzer, testinggoroutine.Analyzer, tests.Analyzer, timeformat.Analyzer, unmarshal.Analyzer,
		unreachable.Analyzer, unsafeptr.Analyzer, unusedresult.Analyzer, unusedwrite.Analyzer, waitgroup.Analyzer,
		errcheck.Analyzer,
	}
	for _, list := range [][]*lint.Analyzer{staticcheck.Analyzers, simple.Analyzers, stylecheck.Analyzers} {
		for _, a := range list {
			if onePackageOnly(a.Analyzer) && !slices.Contains(unwanted, a.Analyzer.Name) {
				analyzers = append(analyzers, a.Analyzer)
			}
		}
	}
	// What cannot fail, or says so in a way that nobody could act on.
	errcheck.DefaultExcludedSymbols = append(errcheck.DefaultExcludedSymbols,
		"fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln", "(*strings.Builder).WriteString")
	for _, a := range analyzers {
		a.Run = hush(a.Name, a.Run)
	}
	unitchecker.Main(analyzers...)
}

// unwanted are matters of taste, as in .golangci.yml.
var unwanted = []string{"ST1000", "ST1003", "ST1016", "ST1018", "ST1020", "ST1021", "ST1022"}

// onePackageOnly reports that an analyzer needs nothing of a package's imports
// but their types.
func onePackageOnly(a *analysis.Analyzer) bool {
	if len(a.FactTypes) > 0 {
		return false
	}
	return !slices.ContainsFunc(a.Requires, func(r *analysis.Analyzer) bool { return !onePackageOnly(r) })
}

var nolint = regexp.MustCompile(`//nolint:([a-z0-9,]+)`)

// families names a check in a nolint comment as .golangci.yml does.
func families(name string) []string {
	out := []string{name}
	if len(name) > 2 && strings.ToUpper(name) == name {
		out = append(out, "staticcheck")
	}
	return append(out, "govet")
}

// hush drops findings in generated files and on lines with a nolint comment of
// their family. Tests may ignore errors, as in .golangci.yml.
func hush(name string, run func(*analysis.Pass) (any, error)) func(*analysis.Pass) (any, error) {
	return func(pass *analysis.Pass) (any, error) {
		report := pass.Report
		silent := map[string]map[int]bool{}
		for _, f := range pass.Files {
			lines := map[int]bool{}
			for _, group := range f.Comments {
				for _, c := range group.List {
					if m := nolint.FindStringSubmatch(c.Text); m != nil && slices.ContainsFunc(strings.Split(m[1], ","), func(s string) bool { return slices.Contains(families(name), s) }) {
						lines[pass.Fset.Position(c.Pos()).Line] = true
					}
				}
			}
			silent[pass.Fset.Position(f.Pos()).Filename] = lines
		}
		here := func(pos token.Pos) bool {
			at := pass.Fset.Position(pos)
			return silent[at.Filename][at.Line] || name == "errcheck" && strings.HasSuffix(at.Filename, "_test.go")
		}
		pass.Report = func(d analysis.Diagnostic) {
			if !here(d.Pos) {
				report(d)
			}
		}
		return run(pass)
	}
}
