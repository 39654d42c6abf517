package social

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Tracks returns the approved posts whose files are there, as tracks sorted by path. They are
// in no deck of the library: they air by the overlay alone. The pointer is the same one while
// nothing changes.
func (s *Social) Tracks() *[]station.Track { return s.tracks.Load() }

// retrack takes over the tracks of the board, and tells of a change. The caller holds mu.
func (s *Social) retrack(now []station.Track) {
	if was := s.tracks.Load(); was != nil && slices.Equal(*was, now) {
		return
	}
	s.tracks.Store(&now)
	s.changes.Tell()
}

// tracksOf looks which files of a board's posts are there.
func (s *Social) tracksOf(b *board) []station.Track {
	out := make([]station.Track, 0, len(b.posts))
	for _, p := range b.posts {
		info, err := os.Stat(s.abs(p.File))
		if err != nil || !info.Mode().IsRegular() { // a dead path
			continue
		}
		out = append(out, station.Track{
			Path: p.File, Category: p.Type.Category(), Title: p.Title, Artist: p.shownArtist(), Duration: p.Duration, Size: info.Size(),
			ModTime: info.ModTime(), AddedAt: time.UnixMilli(p.Approved), Submitter: p.Submitter,
		})
	}
	slices.SortFunc(out, func(x, y station.Track) int { return cmp.Compare(x.Path, y.Path) })
	return out
}

// shownArtist is who is named as the artist on the air: the submitter where none is.
func (p *Post) shownArtist() string {
	if strings.TrimSpace(p.Artist) == "" {
		return p.CreatedBy
	}
	return p.Artist
}

// Overlay returns the paths of the approved posts by category, the best first.
func (s *Social) Overlay() map[station.Category][]string {
	out := map[station.Category][]string{}
	for _, p := range s.board.Load().order[byRank] {
		out[p.Type.Category()] = append(out[p.Type.Category()], p.File)
	}
	return out
}

// Of returns the approved post whose file has that path; nil if there is none.
func (s *Social) Of(path string) *Post {
	id, ok := station.PostOf(path)
	if !ok {
		return nil
	}
	if p := s.board.Load().find(id); p != nil && p.File == path {
		return p
	}
	return nil
}

// Approved returns the approved post with that id; nil if there is none.
func (s *Social) Approved(id int64) *Post { return s.board.Load().find(id) }

// Path returns the absolute path of a post's mastered file.
func (s *Social) Path(file string) string { return s.abs(file) }

// Rel returns the path relative to the media root of a post's file, from its absolute one.
func (s *Social) Rel(abs string) (string, bool) {
	rel, ok := strings.CutPrefix(abs, filepath.Clean(s.opt.Media)+"/")
	_, post := station.PostOf(rel)
	return rel, ok && post
}

// Size returns the bytes of a post's mastered file, by its path relative to the media root;
// -1 where there is none.
func (s *Social) Size(file string) int64 {
	if p := s.Of(file); p != nil {
		return p.Bytes
	}
	return -1
}

// CoverPath returns the absolute path of a post's cover picture.
func (s *Social) CoverPath(p *Post) string { return s.coverOf(p.ID) }

// Refresh reads the approved posts anew, and which of their files are there.
func (s *Social) Refresh(ctx context.Context) error { return s.publish(ctx) }

// Played returns how often the approved posts have aired together.
func (s *Social) Played() (n int) {
	b := s.board.Load()
	for _, p := range b.posts {
		n += b.plays[p.File].Plays
	}
	return n
}
