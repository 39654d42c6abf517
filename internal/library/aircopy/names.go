package aircopy

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// Path returns the file to air for a track, by its path relative to the media
// folder: its copy, or the file itself.
func (r *Rack) Path(rel string) string {
	path, _ := r.Airs(rel)
	return path
}

// Rel returns the track that an absolute path airs, or has aired a while ago;
// false for what is neither in the media folder nor a copy of ours.
func (r *Rack) Rel(abs string) (string, bool) {
	if name, ok := strings.CutPrefix(abs, r.opt.Dir+"/"); ok {
		r.mu.RLock()
		defer r.mu.RUnlock()
		rel, ok := r.copies[name]
		return rel, ok
	}
	return strings.CutPrefix(abs, r.opt.Root+"/")
}

// Size returns the bytes of a file to air, by its absolute path; -1 where it is
// not known, or about to be another.
func (r *Rack) Size(abs string) int64 {
	rel, ok := r.Rel(abs)
	if !ok {
		return -1
	}
	r.mu.RLock()
	w := r.rows[rel]
	replaced := r.making[rel] || w.state == lost
	own := r.opt.Disabled || w.state == asIs || r.early[rel].airs
	r.mu.RUnlock()
	if abs == r.opt.Dir+"/"+w.copy {
		if replaced {
			return -1
		}
		return w.copySize
	}
	t, fit := r.shown.Load().Find(rel)
	if fit && own {
		return t.Size
	}
	return -1
}

// others is the folder of copies that cannot be named like their file.
const others = "_"

// copyName chooses a copy's path relative to Dir: like the file's own, so that
// a person finds it, as .mp3.
func (r *Rack) copyName(rel string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if w := r.rows[rel]; w.copy != "" {
		return w.copy
	}
	name := rel
	if !strings.EqualFold(filepath.Ext(rel), ".mp3") {
		name += ".mp3"
	}
	owner, taken := r.copies[name]
	if taken && owner != rel || len(filepath.Base(name)) > 255 || strings.HasPrefix(name, others+"/") || r.blocked(name) {
		sum := sha256.Sum256([]byte(rel))
		return others + "/" + hex.EncodeToString(sum[:16]) + ".mp3"
	}
	return name
}

// blocked reports that a folder stands where a copy should, or a copy where its
// folder should.
func (r *Rack) blocked(name string) bool {
	if info, err := os.Stat(r.opt.Dir + "/" + name); err == nil && info.IsDir() {
		return true
	}
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if _, ok := r.copies[dir]; ok {
			return true
		}
		if info, err := os.Stat(r.opt.Dir + "/" + dir); err == nil && !info.IsDir() {
			return true
		}
	}
	return false
}

// whole reports that a copy exists with the size it was made with.
func (r *Rack) whole(w row) bool {
	info, err := os.Stat(r.opt.Dir + "/" + w.copy)
	return err == nil && info.Mode().IsRegular() && info.Size() == w.copySize
}
