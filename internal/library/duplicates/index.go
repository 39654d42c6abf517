// Package duplicates tells which tracks of a library are the same recording as a
// file, by acoustic fingerprint, and hints at the same song by name. It stores the
// fingerprints of a library, to compare a new file with all of it.
//
// It deletes and decides nothing: it reports matches and how close they are.
package duplicates

import (
	"slices"
	"sync"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
)

// Index finds the tracks that a new recording equals, and those of the same name. It
// may be used from several goroutines.
type Index struct {
	prints *fingerprint.Index

	mu    sync.RWMutex
	names map[string][]string // ids, by name
	named map[string]string   // name, by id
}

// Match is a track that equals the one asked about.
type Match struct {
	ID         string
	Difference float64 // share of differing bits, 0 to fingerprint.Same; 1 where only the names are the same
	Covered    float64 // share of the longer one that lies over the other, 0 to 1
	SameName   bool    // artist and title are the same, folded; only Store looks
}

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{prints: fingerprint.NewIndex(), names: map[string][]string{}, named: map[string]string{}}
}

// Name is what two files of the same song have in common by their tags: artists
// and title, folded.
func Name(artist, title string) string {
	folded := rotation.Fold(title)
	if folded == "" {
		return ""
	}
	name := ""
	for _, a := range rotation.ArtistKeys(artist) {
		name += a + "\x00"
	}
	return name + "\x00" + folded
}

// Add puts a track in, in the place of one of the same id. print may be nil,
// and artist and title empty, where they are not known.
func (x *Index) Add(id, artist, title string, print fingerprint.Print) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.unname(id)
	if name := Name(artist, title); name != "" {
		x.names[name], x.named[id] = append(x.names[name], id), name
	}
	x.prints.Add(id, print)
}

// Remove takes a track out.
func (x *Index) Remove(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.unname(id)
	x.prints.Remove(id)
}

func (x *Index) unname(id string) {
	name, ok := x.named[id]
	if !ok {
		return
	}
	delete(x.named, id)
	x.names[name] = slices.DeleteFunc(x.names[name], func(other string) bool { return other == id })
	if len(x.names[name]) == 0 {
		delete(x.names, name)
	}
}

// Find returns the tracks that are beyond doubt the same recording as print, the likest
// first: nobody looks at what a library leaves out. A track of the same id is not
// among them.
func (x *Index) Find(id string, print fingerprint.Print) []Match {
	var out []Match
	for _, m := range x.prints.Find(id, print) {
		if m.Difference <= fingerprint.Same {
			out = append(out, Match{ID: m.ID, Difference: m.Difference, Covered: m.Covered})
		}
	}
	return out
}

// SameName returns the tracks whose tags name the same song: a hint, since
// another recording of it has them too.
func (x *Index) SameName(id, artist, title string) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var out []string
	for _, other := range x.names[Name(artist, title)] {
		if other != id {
			out = append(out, other)
		}
	}
	return out
}
