package media

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/athir-radio/athir/internal/station"
)

// Symbolic links are followed while they stay inside the media folder. One that
// leaves it is refused by name (unless Options.FollowLinks): the folder is
// served to broadcast nodes, and a link must not widen what that means. A link
// to a folder is entered once, and never from inside that folder, so links cannot
// make a scan endless or longer than twice the folder.

// batch is some entries of one folder, for the stat workers.
type batch struct {
	dir     string // relative to the root
	names   []string
	credits *credits
	sidecar map[string]bool // files of the folder with a licence file beside them
}

const batchSize = 256

// walker finds audio files below the scopes of a pass.
type walker struct {
	root, realRoot string
	files          *files
	entering       func(abs string)              // before a folder is listed
	emit           func(batch) error             // blocks; ends with the context
	refuse         func(rel, reason string)      // a name that cannot be aired
	unreadable     func(rel string, cause error) // a folder that cannot be listed
	entered        map[string]bool               // targets of links to folders
}

// folder is one folder to list.
type folder struct {
	rel  string
	real string // without links
	up   *credits
}

// walk visits scope, a folder or a file. A scope that is gone is no error.
func (w *walker) walk(ctx context.Context, scope string) error {
	abs := filepath.Join(w.root, scope)
	info, err := os.Lstat(abs)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		w.unreadable(scope, err)
		return nil
	}
	up, real, ok := w.above(scope)
	if !ok {
		return nil
	}
	if scope == "" || info.IsDir() {
		return w.folders(ctx, folder{scope, real, up})
	}
	listed := listing{dir: parent(scope), credits: up, sidecar: map[string]bool{}}
	if _, err := os.Lstat(abs + licenseSuffix); err == nil {
		listed.sidecar[path.Base(scope)] = true
	}
	dirs, err := w.entry(&listed, path.Base(scope), info.Mode().Type(), filepath.Dir(real))
	if err == nil {
		err = w.flush(&listed)
	}
	for _, d := range dirs {
		err = errors.Join(err, w.folders(ctx, d))
	}
	return err
}

// above gathers the attribution files above a scope and its path without links.
// It answers false where the scope lies in an ignored folder.
func (w *walker) above(scope string) (up *credits, real string, ok bool) {
	real = w.realRoot
	if scope == "" {
		return nil, real, true
	}
	dir := ""
	for name := range strings.SplitSeq(scope, "/") {
		if ignored(name) {
			return nil, "", false
		}
		if next, err := loadCredits(w.files, w.root, dir, up); err == nil {
			up = next
		}
		dir = path.Join(dir, name)
	}
	if r, err := filepath.EvalSymlinks(filepath.Join(w.root, parent(scope))); err == nil {
		real = filepath.Join(r, path.Base(scope))
	}
	return up, real, true
}

func parent(rel string) string {
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		return rel[:i]
	}
	return ""
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// folders lists a folder and all below it.
func (w *walker) folders(ctx context.Context, first folder) error {
	for stack := []folder{first}; len(stack) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		f := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		below, err := w.list(f)
		if err != nil {
			return err
		}
		stack = append(stack, below...)
	}
	return nil
}

// own tells a folder from the same folder seen through a link. The kernel reports
// it under one name only, so it is watched under its own; changes show under the
// link's name after the next whole scan.
func (w *walker) own(f folder) bool {
	return f.real == filepath.Join(w.realRoot, f.rel) || !strings.HasPrefix(f.real, w.realRoot+"/")
}

func (w *walker) list(f folder) (below []folder, err error) {
	abs := filepath.Join(w.root, f.rel)
	if w.own(f) {
		w.entering(abs)
	}
	entries, err := os.ReadDir(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it went while we walked
	}
	if err != nil {
		w.unreadable(f.rel, err)
		return nil, nil
	}
	listed := listing{dir: f.rel, credits: f.up, sidecar: map[string]bool{}}
	for _, e := range entries {
		if name := e.Name(); name == attributionFile {
			if listed.credits, err = loadCredits(w.files, w.root, f.rel, f.up); err != nil {
				w.refuse(join(f.rel, name), "cannot be read, so its credits are not used: "+unwrapPath(err).Error())
			}
		} else if file, ok := strings.CutSuffix(name, licenseSuffix); ok {
			listed.sidecar[file] = true
		}
	}
	for _, e := range entries {
		dirs, err := w.entry(&listed, e.Name(), e.Type(), f.real)
		if err != nil {
			return nil, err
		}
		below = append(below, dirs...)
	}
	return below, w.flush(&listed)
}

// listing is the folder being listed.
type listing batch

func (w *walker) flush(l *listing) error {
	if len(l.names) == 0 {
		return nil
	}
	b := batch(*l)
	l.names = nil
	return w.emit(b)
}

// entry sorts one name: a folder to visit, a file to stat, or ignored.
func (w *walker) entry(l *listing, name string, kind fs.FileMode, realDir string) ([]folder, error) {
	rel := join(l.dir, name)
	if ignored(name) || posted(rel) {
		return nil, nil
	}
	real := filepath.Join(realDir, name)
	if kind&fs.ModeSymlink != 0 {
		var ok bool
		if real, kind, ok = w.link(rel, real, audioFile(name)); !ok {
			return nil, nil
		}
		if kind.IsDir() && !w.enterLink(real, realDir) {
			return nil, nil
		}
	}
	if kind.IsDir() {
		return []folder{{rel, real, l.credits}}, nil
	}
	if !audioFile(name) {
		return nil, nil
	}
	switch {
	case !kind.IsRegular():
		w.refuse(rel, "a pipe, socket or device, not a file")
	case strings.ContainsAny(rel, "\n\r"):
		w.refuse(rel, "its name holds a line break, which no playlist can carry: rename it")
	default:
		if l.names = append(l.names, name); len(l.names) == batchSize {
			return nil, w.flush(l)
		}
	}
	return nil, nil
}

// link resolves a symbolic link and refuses one that leads out or nowhere.
func (w *walker) link(rel, abs string, audio bool) (target string, kind fs.FileMode, ok bool) {
	target, err := filepath.EvalSymlinks(abs)
	if err != nil {
		if audio {
			w.refuse(rel, "a broken link")
		}
		return "", 0, false
	}
	info, err := os.Lstat(target)
	if err != nil || (!audio && !info.IsDir()) {
		return "", 0, false
	}
	if !w.files.followLinks && !w.files.inside(target) {
		w.refuse(rel, errLinksOut.reason)
		return "", 0, false
	}
	return target, info.Mode().Type(), true
}

// enterLink says whether a link to the folder target may be entered from dir.
func (w *walker) enterLink(target, dir string) bool {
	if dir == target || strings.HasPrefix(dir, target+"/") || w.entered[target] {
		return false
	}
	w.entered[target] = true
	return true
}

// Present checks that a media folder may be written to; it fails where a scan would
// refuse the folder. known is how many tracks are registered. Files written where
// an unmounted disk belongs would pass for the whole library.
func Present(root string, known int) error { return checkRoot(root, known) }

// checkRoot makes sure that the root is a folder that can be listed and is not
// just the place where a disk is missing. known is how many tracks are registered.
func checkRoot(root string, known int) error {
	f, err := os.Open(root) //nolint:gosec // the operator's media root
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("media folder %s does not exist: create it, or mount its disk, or set another: %w", root, station.ErrUnavailable)
	case errors.Is(err, fs.ErrPermission):
		return unreadableError(root)
	case err != nil:
		return fmt.Errorf("media folder %s cannot be opened: %w", root, unwrapPath(err))
	}
	defer func() { _ = f.Close() }()
	names, err := f.Readdirnames(1)
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("media folder %s is a file: set the folder that holds the music: %w", root, station.ErrUnavailable)
	case len(names) == 0 && known > 0:
		return fmt.Errorf("media folder %s is empty, but %d tracks are registered: is its disk mounted? They stay registered; "+
			"to clear them, leave an empty folder in it: %w", root, known, station.ErrUnavailable)
	}
	return nil
}

func unreadableError(dir string) error {
	return fmt.Errorf("folder %s cannot be read by user %s: change its owner (chown -R) or its mode (chmod -R a+rX): %w",
		dir, userName(), station.ErrUnavailable)
}
