package telemetry

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/find"
	"github.com/athir-radio/athir/internal/station"
)

// HeardFor is how long back listeners look what was on the air. It is held in memory, some
// 3,000 airings, so that no search of theirs reads the disk.
const HeardFor = 7 * 24 * time.Hour

// Heard is what was on the air within HeardFor and has a name to listeners: no imaging, and
// nothing of the emergency loop. It is shared and never changed.
type Heard struct {
	Airings []Aired // newest first; one that goes on is at most as old as the latest poll
	index   func() *find.Index
}

func newHeard(airings []Aired) *Heard {
	return &Heard{airings, sync.OnceValue(func() *find.Index {
		names := make([]find.Track, len(airings))
		for i, a := range airings {
			names[i] = find.Track{Title: a.Title, Artist: a.Artist, Also: []string{a.Album}}
		}
		return find.New(names)
	})}
}

// Search returns the places in Airings that hold every word of a query, in Arabic or Latin
// letters, the newest first.
func (h *Heard) Search(query string) []int {
	if len(h.Airings) == 0 {
		return nil
	}
	found, _ := h.index().Search(query, 0, len(h.Airings), nil)
	slices.Sort(found)
	return found
}

// ofListeners reports whether listeners look for an airing.
func (a *Airing) ofListeners() bool {
	c := station.Category(a.Category)
	return a.Kind != "emergency" && c != station.Jingles && c != station.Sweepers && c != station.SFX && strings.TrimSpace(a.Title+a.Artist) != ""
}

// add returns h with airings that have begun or changed, without what is too old by now; h
// itself where nothing did.
func (h *Heard) add(all []Aired, now time.Time) *Heard {
	var next []Aired
	for _, a := range all {
		if !a.ofListeners() {
			continue
		}
		if next == nil {
			next = slices.Clone(h.Airings)
		}
		if i := slices.IndexFunc(next, func(known Aired) bool { return known.ID == a.ID }); i >= 0 {
			next[i] = a
		} else {
			next = append(next, a)
		}
	}
	if next == nil {
		return h
	}
	next = slices.DeleteFunc(next, func(a Aired) bool { return now.Sub(a.StartedAt) > HeardFor })
	// By time rather than as they came: a clock may have been set back.
	slices.SortStableFunc(next, func(a, b Aired) int { return b.StartedAt.Compare(a.StartedAt) })
	return newHeard(next)
}

// begun reports whether listeners do not have what is on the air by now. It is the newest, but
// after the clock was set back: all of it would be sorted and indexed anew with each poll.
func (h *Heard) begun(now *Aired) bool {
	return now != nil && now.ofListeners() && !slices.ContainsFunc(h.Airings, func(a Aired) bool { return a.ID == now.ID })
}

// hear takes the airings that have ended with a poll, and what is on the air.
func (t *Telemetry) hear(ended []Aired, now time.Time) {
	h := t.heard.Load()
	if len(ended) == 0 && !h.begun(t.onAir.now) {
		return
	}
	all := append(slices.Clone(ended), t.onAir.open()...)
	t.heard.Store(h.add(all, now))
	t.paths.add(all)
}

// Heard returns what was on the air of late.
func (t *Telemetry) Heard() *Heard { return t.heard.Load() }

// paths names the files that have aired by the ids of their tracks: a page of a track outlives
// its file in the library.
type paths struct {
	reading sync.Mutex // one reads what is written while airings go on
	mu      sync.Mutex
	byID    map[string]string // nil before it is asked for
}

func (p *paths) find(id string) (path string, known, read bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	path, known = p.byID[id]
	return path, known, p.byID != nil
}

func (p *paths) add(all []Aired) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range all {
		if p.byID != nil && a.Path != "" {
			p.byID[station.TrackID(a.Path)] = a.Path
		}
	}
}

// PathOf returns the path of a file that has aired, by the id of its track; false for an id
// that none has had. Its airings may be over those that are kept.
func (t *Telemetry) PathOf(ctx context.Context, id string) (path string, known bool, err error) {
	p := &t.paths
	path, known, read := p.find(id)
	if read {
		return path, known, nil
	}
	p.reading.Lock()
	defer p.reading.Unlock()
	if path, known, read = p.find(id); read {
		return path, known, nil
	}
	all := map[string]string{}
	err = store.Each(ctx, t.book.db.Read(), func(rows *sql.Rows) error {
		var path []byte
		if err := rows.Scan(&path); err != nil {
			return err
		}
		all[station.TrackID(string(path))] = string(path)
		return nil
	}, `SELECT DISTINCT path FROM telemetry_airings WHERE path > x''`)
	if err != nil {
		return "", false, fmt.Errorf("read what has aired: %w", err)
	}
	p.begin(all, t.heard.Load)
	path, known, _ = p.find(id)
	return path, known, nil
}

// begin takes what is written, and what is not yet: airings that come from now on are added.
func (p *paths) begin(written map[string]string, heard func() *Heard) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range heard().Airings {
		if a.Path != "" {
			written[station.TrackID(a.Path)] = a.Path
		}
	}
	p.byID = written
}

// Played returns at most limit airings of one path, newest first, up to the latest poll.
func (t *Telemetry) Played(ctx context.Context, path string, limit int) ([]Aired, error) {
	kept, err := t.book.airingsOf(ctx, path, limit)
	if err != nil {
		return nil, err
	}
	for _, a := range t.heard.Load().Airings {
		if a.Path == path && !slices.ContainsFunc(kept, func(k Aired) bool { return k.ID == a.ID }) {
			kept = append(kept, a)
		}
	}
	slices.SortStableFunc(kept, func(a, b Aired) int { return b.StartedAt.Compare(a.StartedAt) })
	return kept[:min(limit, len(kept))], nil
}
