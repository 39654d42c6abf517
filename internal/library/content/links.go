package content

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// resolver says what file a path of the media folder leads to: folders and
// files in it may be links, so one file may be planned under two paths.
type resolver struct {
	root string
	dirs map[string]string
}

func newResolver(root string) *resolver { return &resolver{root, map[string]string{}} }

// dir is where a folder really is; its own name where that cannot be told.
func (r *resolver) dir(rel string) string {
	if real, ok := r.dirs[rel]; ok {
		return real
	}
	full := filepath.Join(r.root, filepath.FromSlash(rel))
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		real = full
	}
	r.dirs[rel] = real
	return real
}

func (r *resolver) path(rel string) string {
	full := filepath.Join(r.dir(path.Dir(rel)), path.Base(rel))
	if info, err := os.Lstat(full); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if real, err := filepath.EvalSymlinks(full); err == nil {
			return real
		}
	}
	return full
}

// within reports that a path's folder really lies in the media folder.
func (r *resolver) within(rel string) bool {
	out, err := filepath.Rel(r.dir("."), r.dir(path.Dir(rel)))
	return err == nil && filepath.IsLocal(out)
}

// twins are the paths that lead to the same file as another.
type twins map[string][]string

// paths returns every path of a file, its own first.
func (t twins) paths(p string) []string {
	if all, ok := t[p]; ok {
		return all
	}
	return []string{p}
}

// twins looks through the registry for other paths of the same files.
func (c *Content) twins(real *resolver, paths []string) twins {
	by := make(map[string]string, len(paths))
	for _, p := range paths {
		by[real.path(p)] = p
	}
	out := twins{}
	for _, t := range c.opt.Registry.Tracks() {
		if p, ok := by[real.path(t.Path)]; ok && p != t.Path {
			if out[p] == nil {
				out[p] = []string{p}
			}
			out[p] = append(out[p], t.Path)
		}
	}
	return out
}
