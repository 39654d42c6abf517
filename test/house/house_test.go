// Package house holds the import policy and the other rules of the house as
// data, and reads the source files itself: a listing by the go command would
// be answered from the test cache after a violation had appeared.
package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/athir-radio/athir"

// floors lists the house from the ground up: a package imports only from
// floors beneath its own. Do not change this data to mend a build: change the
// import, or argue for a new house in ARCHITECTURE.md.
var floors = [][]string{
	{"internal/station"},
	{"internal/kit/"},
	{"internal/sound/audiofile", "internal/sound/ffmpeg", "internal/sound/fourier", "internal/sound/loudness", "internal/sound/synth", "internal/sound/wav"},
	{"internal/sound/"},
	{"internal/onair/rotation", "internal/onair/playlist", "internal/live", "internal/alarm"},
	{"internal/library/find"}, // of what listeners ask for, and of the library in the studio
	{"internal/onair/", "internal/library/", "internal/live/", "internal/audience/", "internal/alarm/", "internal/people", "internal/face", "internal/podcast"},
	{"internal/production", "internal/podcast/", "internal/import/model", "internal/import/download"},
	{"internal/import/azuracast", "internal/import/libretime", "internal/import/plan"},
	{"internal/import/apply"}, // what carries a plan out
	{"internal/import/origin"},
	{"internal/import/"}, // the studio's desk, and what tests it
	{"internal/web/", "internal/node/"},
	{"internal/config"}, // beside the edges, beneath app: nothing below knows of settings
	{"internal/app/doors"},
	{"internal/app/role", "internal/app/handover"},
	{"internal/app/"}, // the wiring of a part that is too much for one package
	{"internal/app"},
	{"internal/cli"},
	{"cmd/"},
}

// neighbours are the imports within one floor that are meant: kit packages
// may build on each other, and a conformance suite on what it tests.
var neighbours = map[string][]string{
	"internal/kit/innerhttp":               {"internal/kit/reexec"},
	"internal/kit/testkit":                 {"internal/kit/port", "internal/kit/proc"},
	"internal/onair/delivery/deliverytest": {"internal/onair/delivery"},
	"internal/onair/press":                 {"internal/onair/scheduler"}, // it is its hand at the engine
	"internal/kit/jobs":                    {"internal/kit/store"},
	"internal/kit/swap":                    {"internal/kit/file"},
	"internal/kit/census":                  {"internal/kit/client"}, // whose address a request counts for
	"internal/kit/resume":                  {"internal/kit/client", "internal/kit/file"},
	"internal/kit/webhooks":                {"internal/kit/store", "internal/kit/fetch"},
	"internal/kit/bus":                     {"internal/kit/signal"},
	"internal/kit/bus/bustest":             {"internal/kit/bus"},
	"internal/library/deck":                {"internal/library/media", "internal/library/aircopy"},    // it is what they show together
	"internal/library/intake":              {"internal/library/media", "internal/library/duplicates"}, // it looks at a file as they do
	"internal/library/overlay":             {"internal/library/moves"},                                // what is said goes with its file
	"internal/library/lists":               {"internal/library/moves", "internal/library/catalog"},    // as do their places; and a search is one
	"internal/node/local":                  {"internal/node/playout", "internal/node/supervise"},      // it steers them
	"internal/node/remote":                 {"internal/node/depot", "internal/node/icecast", "internal/node/local", "internal/node/playout", "internal/node/supervise"},
	"internal/node/rescue":                 {"internal/node/playout"},
	"internal/node/mounts":                 {"internal/node/bridge"}, // it reads the main mount as that does
	"internal/web/streams":                 {"internal/web/stream"},
	"internal/app/onface":                  {"internal/app/onsocial"}, // how a post looks where it is shared
	"internal/app/onedge":                  {"internal/app/onface"},
	"internal/app/onlive":                  {"internal/app/onface"},
	"internal/web/edge":                    {"internal/web/socket"},
	"internal/web/api":                     {"internal/web/problem"},
	"internal/web/front":                   {"internal/web/problem"},
	"internal/web/stream":                  {"internal/web/problem"},
}

// inside reports that other is a part of the slice that pkg belongs to: a slice
// may be made of packages below its own. They do not know the whole.
func inside(pkg, other string) bool {
	parts := strings.SplitN(pkg, "/", 4)
	return len(parts) >= 3 && strings.HasPrefix(other, strings.Join(parts[:3], "/")+"/")
}

// pure packages touch no disk, network, clock, goroutine or global randomness.
var pure = map[string][]string{
	"internal/onair/rotation":          {"os", "net", "io/fs", "math/rand", "sync", "context", "log/slog"},
	"internal/onair/playlist":          {"os", "net", "io/fs", "math/rand", "sync", "context", "log/slog"},
	"internal/onair/simulate":          {"os", "net", "io/fs", "math/rand", "sync", "context", "log/slog"},
	"internal/station":                 {"os", "net", "io/fs", "math/rand", "sync", "context", "log/slog"},
	"internal/library/bulletin/arabic": {"os", "net", "io/fs", "math/rand", "sync", "context", "log/slog"},
	"internal/audience/social/refusal": {"os", "net", "io/fs", "math/rand", "sync", "context", "log/slog"},
	"internal/library/find":            {"os", "net", "io/fs", "math/rand", "sync", "context", "log/slog"},
	"internal/sound/synth":             {"os", "net", "io/fs", "math/rand", "sync", "context", "log/slog"},
	"internal/sound/stinger":           {"os", "net", "io/fs", "math/rand", "sync", "context", "log/slog"},
	"internal/audience/social/rank":    {"os", "net", "io/fs", "math/rand", "sync", "context", "log/slog"},
	"internal/sound/score":             {"os", "net", "io/fs", "math/rand", "sync", "context", "log/slog"},
}

func floorOf(pkg string) int {
	// Packages named in full stand where they are named; the rest by prefix.
	for i, floor := range floors {
		if slices.Contains(floor, pkg) {
			return i
		}
	}
	for i, floor := range floors {
		for _, prefix := range floor {
			if strings.HasSuffix(prefix, "/") && strings.HasPrefix(pkg, prefix) {
				return i
			}
		}
	}
	return -1
}

type source struct {
	path string // from the repository's root, with slashes
	pkg  string
	text []byte
	file *ast.File
	fset *token.FileSet
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// sources are the Go files of the repository, parsed once.
func sources(t *testing.T) []source {
	t.Helper()
	out, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var parsed = sync.OnceValues(func() ([]source, error) {
	var out []source
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(p, root), "/"))
		if d.IsDir() && (d.Name() == "node_modules" || (strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2) || rel == "tools") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") {
			return nil
		}
		text, err := os.ReadFile(p) //nolint:gosec // the repository's own files
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, p, text, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		out = append(out, source{rel, path.Dir(rel), text, file, fset})
		return nil
	})
	if err == nil && len(out) < 20 {
		err = fmt.Errorf("read only %d files: is the root right?", len(out))
	}
	return out, err
})

func imports(s source) []string {
	var out []string
	for _, spec := range s.file.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		out = append(out, p)
	}
	return out
}

func TestPackagesImportOnlyFromFloorsBeneath(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || !strings.HasPrefix(s.pkg, "internal/") && !strings.HasPrefix(s.pkg, "cmd/") {
			continue // tests may reach anywhere
		}
		mine := floorOf(s.pkg)
		if mine < 0 {
			t.Errorf("%s: package %s stands on no floor", s.path, s.pkg)
			continue
		}
		for _, imp := range imports(s) {
			other, ours := strings.CutPrefix(imp, module+"/")
			if !ours || inside(s.pkg, other) || slices.Contains(neighbours[s.pkg], other) {
				continue
			}
			if theirs := floorOf(other); theirs >= mine {
				t.Errorf("%s: %s (floor %d) imports %s (floor %d): declare the interface you need and let app fill it in",
					s.path, s.pkg, mine, other, theirs)
			}
		}
	}
}

func TestOnlyProcRunsPrograms(t *testing.T) {
	for _, s := range sources(t) {
		if strings.HasPrefix(s.pkg, "internal/") && !s.isTest() && s.pkg != "internal/kit/proc" && slices.Contains(imports(s), "os/exec") {
			t.Errorf("%s: imports os/exec: run programs through internal/kit/proc", s.path)
		}
	}
}

func TestPurePackagesStayPure(t *testing.T) {
	for _, s := range sources(t) {
		for _, banned := range pure[s.pkg] {
			if !s.isTest() && slices.Contains(imports(s), banned) {
				t.Errorf("%s: a pure package imports %s", s.path, banned)
			}
		}
		if _, ok := pure[s.pkg]; !ok || s.isTest() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if _, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s: a pure package starts a goroutine", s.fset.Position(n.Pos()))
			}
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && (sel.Sel.Name == "Now" || sel.Sel.Name == "Since") {
					t.Errorf("%s: a pure package reads the clock", s.fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
}

// fileLimit bounds the lines of a file; CONTRIBUTING.md states it too.
const fileLimit = 600

// mainFile locks the main thread before anything else runs, which only init can.
const mainFile = "cmd/athir/main.go"

func TestFilesAreSmallAndHaveNoInit(t *testing.T) {
	for _, s := range sources(t) {
		if n := bytes.Count(s.text, []byte{'\n'}); n > fileLimit {
			t.Errorf("%s: %d lines, the house allows %d", s.path, n, fileLimit)
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" && s.path != mainFile {
				t.Errorf("%s: has an init function", s.path)
			}
		}
	}
}

// A package's state belongs to a value somebody owns, never to the package.
func TestPackagesHoldNoState(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || !strings.HasPrefix(s.pkg, "internal/") {
			continue
		}
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				if len(v.Values) == 0 && v.Names[0].Name != "_" && !embedded(g) {
					t.Errorf("%s: package variable %s without a constant value", s.fset.Position(v.Pos()), v.Names[0].Name)
				}
			}
		}
	}
}

func embedded(g *ast.GenDecl) bool {
	return g.Doc != nil && strings.Contains(g.Doc.List[len(g.Doc.List)-1].Text, "go:embed")
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	said, all := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		all[s.pkg] = true
		said[s.pkg] = said[s.pkg] || s.file.Doc != nil
	}
	for pkg := range all {
		if !said[pkg] {
			t.Errorf("%s has no package comment", pkg)
		}
	}
}

// app fills in what the floors beneath it declare. What grows beyond this
// decides something, and belongs beneath.
func TestAppStaysSmall(t *testing.T) {
	const limit = 2500
	lines := map[string]int{}
	for _, s := range sources(t) {
		if strings.HasPrefix(s.pkg+"/", "internal/app/") && !s.isTest() {
			lines[s.pkg] += bytes.Count(s.text, []byte{'\n'})
			if slices.Contains(imports(s), "database/sql") {
				t.Errorf("%s: app asks the database nothing itself", s.path)
			}
		}
	}
	for pkg, n := range lines {
		if n > limit {
			t.Errorf("%s has %d lines, the house allows %d", pkg, n, limit)
		}
	}
}
