package lists

import (
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/library/lists/match"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// found is what playlists have at a moment. It is never changed.
type found struct {
	lists   []rotation.List
	paths   map[int64][]string
	figures map[int64]figures
}

// figures count a playlist's tracks.
type figures struct {
	tracks, ready, missing int
	lasts                  time.Duration
}

// look has every playlist resolved anew.
func (l *Lists) look() {
	l.resolve.Lock()
	defer l.resolve.Unlock()
	b, was := l.book.Load(), l.found.Load()
	now := &found{paths: map[int64][]string{}, figures: map[int64]figures{}}
	if len(b.byID) == 0 { // how each track stands is a look at all of them
		l.found.Store(now)
		return
	}
	tracks := l.opt.Registry.Tracks()
	standing := l.opt.Standing(tracks)
	matcher := sync.OnceValue(func() *match.Matcher { return match.New(chosen(tracks)) })
	for _, r := range b.sorted() {
		paths := l.pathsOf(r, tracks, was, matcher)
		now.paths[r.id], now.figures[r.id] = paths, count(paths, tracks, standing)
		if r.On && len(paths) > 0 {
			list := r.list(r.id, paths)
			if list.Edition = r.version; r.Kind == Remote {
				list.Edition += l.far.get(r.id, r.Address).changed
			}
			now.lists = append(now.lists, list)
		}
	}
	l.found.Store(now)
}

// pathsOf are what a playlist plays, in order.
func (l *Lists) pathsOf(r *record, tracks []station.Track, was *found, matcher func() *match.Matcher) []string {
	switch r.Kind {
	case Smart:
		var paths []string
		err := l.opt.Find(*r.Query, func(path string) bool {
			if i, there := station.Find(tracks, path); !there || tracks[i].Submitter == "" {
				paths = append(paths, path)
			}
			return len(paths) < MostItems
		})
		if err != nil {
			l.opt.Log.Warn("cannot run the search of a playlist: it keeps its tracks", "playlist", r.Name, "err", err)
			if was != nil {
				return was.paths[r.id]
			}
		}
		return paths
	case Remote:
		return l.far.paths(r.id, r.Address, tracks, matcher)
	}
	return r.items
}

func count(paths []string, tracks []station.Track, standing func(int) (catalog.State, string)) (f figures) {
	f.tracks = len(paths)
	for _, path := range paths {
		i, there := station.Find(tracks, path)
		if !there {
			f.missing++
			continue
		}
		f.lasts += tracks[i].Duration
		if state, _ := standing(i); state == catalog.Airs {
			f.ready++
		}
	}
	return f
}

// Playlist is one as the studio shows it.
type Playlist struct {
	ID int64 `json:"id"`
	Settings
	Version    int64    `json:"version" doc:"Counts changes"`
	Tracks     int      `json:"tracks"`
	Ready      int      `json:"ready" doc:"Tracks that can air"`
	Missing    int      `json:"missing" doc:"Tracks whose files are gone"`
	DurationMS int64    `json:"durationMs" doc:"Of all tracks"`
	Open       bool     `json:"open" doc:"It may play now"`
	NextAt     int64    `json:"nextAt" doc:"When it may play next; now where it is open, 0: never"`
	AiredAt    int64    `json:"airedAt" doc:"When something of it was last heard; 0: not yet"`
	ChangedAt  int64    `json:"changedAt"`
	By         string   `json:"by"`
	FetchedAt  int64    `json:"fetchedAt,omitempty" doc:"When a remote one was last fetched"`
	Problem    *Problem `json:"problem,omitempty" doc:"Why a remote one could not be fetched"`
	Unmatched  []Entry  `json:"unmatched,omitempty" doc:"Entries of a remote one that the library does not have, the first 100"`
}

// Problem is what went wrong, in both languages.
type Problem struct {
	En string `json:"en"`
	Ar string `json:"ar"`
}

// Entry is an entry of a playlist from elsewhere.
type Entry struct {
	Title   string `json:"title"`
	Address string `json:"address"`
}

func (l *Lists) shown(r *record) Playlist {
	f := l.found.Load()
	n := f.figures[r.id]
	out := Playlist{
		ID: r.id, Settings: r.Settings, Version: r.version, Tracks: n.tracks, Ready: n.ready, Missing: n.missing, DurationMS: n.lasts.Milliseconds(),
		ChangedAt: r.changed, By: r.who,
	}
	if at := l.opt.Aired(r.id); !at.IsZero() {
		out.AiredAt = at.UnixMilli()
	}
	if r.On {
		now := l.opt.Now().In(l.opt.Zone)
		if next := r.list(r.id, nil).Next(l.opt.Config(), now); !next.IsZero() {
			out.Open, out.NextAt = !next.After(now), next.UnixMilli()
		}
	}
	if r.Kind == Remote {
		l.far.show(&out)
	}
	return out
}

// Stats count the playlists that are switched on.
type Stats struct {
	Kinds   map[Kind]int
	Missing int // places whose files are gone
	Failing int // remote ones that could not be fetched when last tried
}

// Stats returns them.
func (l *Lists) Stats() Stats {
	out := Stats{Kinds: map[Kind]int{Hand: 0, Smart: 0, Remote: 0}}
	f := l.found.Load()
	for _, r := range l.book.Load().byID {
		if !r.On {
			continue
		}
		out.Kinds[r.Kind]++
		out.Missing += f.figures[r.id].missing
		if r.Kind == Remote && l.far.get(r.id, r.Address).Problem != nil {
			out.Failing++
		}
	}
	return out
}

// All returns the playlists by name.
func (l *Lists) All() []Playlist {
	out := []Playlist{}
	for _, r := range l.book.Load().sorted() {
		out = append(out, l.shown(r))
	}
	return out
}

// Get returns one. The error is of kind station.ErrNotFound.
func (l *Lists) Get(id int64) (Playlist, error) {
	r, err := l.book.Load().record(id)
	if err != nil {
		return Playlist{}, err
	}
	return l.shown(r), nil
}

// Items returns a part of what a playlist plays, and how many there are in all.
func (l *Lists) Items(id int64, offset, limit int) (version int64, total int, paths []string, err error) {
	r, err := l.book.Load().record(id)
	if err != nil {
		return 0, 0, nil, err
	}
	all := r.items
	if r.Kind != Hand {
		all = l.found.Load().paths[id]
	}
	from := min(max(offset, 0), len(all))
	return r.version, len(all), slices.Clone(all[from:min(from+max(limit, 0), len(all))]), nil
}
