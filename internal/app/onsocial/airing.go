package onsocial

import (
	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/station"
)

// Airing names the files that air: the library's, and those of listeners' posts.
type Airing struct {
	Rack  *aircopy.Rack
	Posts *social.Social // nil until it is opened, and where it is switched off
}

// Airs returns the file that airs for a track, and the gain (dB) it needs.
func (a *Airing) Airs(rel string) (path string, gain float64) {
	if _, post := station.PostOf(rel); post && a.Posts != nil {
		return a.Posts.Path(rel), 0
	}
	return a.Rack.Airs(rel)
}

// Path returns the file that airs for a track.
func (a *Airing) Path(rel string) string {
	path, _ := a.Airs(rel)
	return path
}

// Rel returns the track that an absolute path airs; false for a foreign one.
func (a *Airing) Rel(abs string) (string, bool) {
	if a.Posts != nil {
		if rel, ok := a.Posts.Rel(abs); ok {
			return rel, true
		}
	}
	return a.Rack.Rel(abs)
}

// Size returns the bytes of a file to air; -1 where it is not known.
func (a *Airing) Size(abs string) int64 {
	if a.Posts != nil {
		if rel, ok := a.Posts.Rel(abs); ok {
			return a.Posts.Size(rel)
		}
	}
	return a.Rack.Size(abs)
}
