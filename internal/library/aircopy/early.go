package aircopy

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/station"
)

// A new station plays music at once. Mastering a song takes seconds, and on a busy machine
// a minute; measuring it takes a fraction of that. So the first songs of each deck are
// measured ahead of all mastering, and each airs from its own file with that gain, before
// the engine's limiter, until its copy is made.

// enoughSongs is how many songs of a music deck must air before the others wait for their
// copies: half an hour or more of each deck, in which copies are made of them.
const enoughSongs = 12

// What is not right with a file besides its loudness, only a copy mends.
const (
	mostLead   = 2 * time.Second // of silence at the start
	mostTail   = 3 * time.Second // and at the end: with the next one's start it is no dead air
	mostOffset = 0.02            // direct current, of full scale: a click at both ends
)

// previewPatience bounds one measurement: a disk that hangs must not keep the other songs
// waiting.
const previewPatience = 20 * time.Second

// early is what was found out about a song without a copy. It is kept in memory only:
// measuring again takes less than a second.
type early struct {
	size, mtime int64
	profile     string
	airs        bool
	gain        float64 // dB
}

// of reports that it was found out about the file as it is now, and that all of it is to air.
func (e early) of(t station.Track) bool {
	return e.size == t.Size && e.mtime == t.ModTime.UnixNano() && uncut(t)
}

// uncut reports that a file is to air from its beginning to its end: only a copy is cut.
func uncut(t station.Track) bool {
	from, to := cutOf(t)
	return from == 0 && to == 0
}

// Airs returns the file to air for a track, by its path relative to the media folder, and
// the gain (dB) at which it airs: 0 but for a song whose copy is still to be made. There
// must be a limiter after a gain.
func (r *Rack) Airs(rel string) (path string, gain float64) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.opt.Disabled {
		return r.opt.Root + "/" + rel, 0
	}
	if w := r.rows[rel]; w.state == copied {
		return r.opt.Dir + "/" + w.copy, 0
	}
	return r.opt.Root + "/" + rel, r.early[rel].gain
}

// measured is the outcome of one preview.
type measured struct {
	job  job
	seen mastering.Preview
	err  error
}

// preview measures a song. What nothing is heard without has the priority of the air.
func (r *Rack) preview(ctx context.Context, j job, first bool) measured {
	profile, err := mastering.Named(j.profile)
	if err != nil {
		return measured{j, mastering.Preview{}, err}
	}
	nice := 0
	if first {
		nice = proc.Air
	}
	ctx, cancel := context.WithTimeout(ctx, previewPatience)
	defer cancel()
	in := r.opt.Root + "/" + j.track.Path
	if !same(in, j.track) {
		return measured{j, mastering.Preview{}, errChanged}
	}
	seen, err := r.opt.Preview(ctx, in, profile, j.track.Duration, nice)
	return measured{j, seen, err}
}

// opening returns the songs of jobs that are to be measured ahead: those that somebody waits
// for, and then the shortest of each deck and the decks in turn. It counts the songs that can
// air already, and the one that is being measured as if it could.
func (w *runner) opening(jobs []job, airing map[station.Category]int) []job {
	if w.opt.Preview == nil {
		return nil
	}
	p, measuring := w.measuring()
	if measuring {
		airing = maps.Clone(airing)
		airing[p.track.Category]++
	}
	var soon []job
	decks := map[station.Category][]job{}
	for _, j := range jobs {
		c := j.track.Category
		switch {
		case !w.canOpen(&j), measuring && j.track.Path == p.track.Path && j.profile == p.profile:
		case j.soon > 0:
			soon = append(soon, j)
		case airing[c] < enoughSongs:
			decks[c] = append(decks[c], j)
		}
	}
	slices.SortFunc(soon, func(a, b job) int { return cmp.Compare(a.soon, b.soon) })
	for c, deck := range decks {
		slices.SortFunc(deck, func(a, b job) int {
			return cmp.Or(cmp.Compare(a.track.Duration, b.track.Duration), cmp.Compare(a.track.Path, b.track.Path))
		})
		decks[c] = deck[:min(len(deck), enoughSongs-airing[c])]
	}
	return append(soon, inTurn(decks)...)
}

// canOpen reports that a song, or what somebody waits for, can be measured ahead of its copy,
// and was not. An effect is too short for that: its loudness is measured otherwise.
func (w *runner) canOpen(j *job) bool {
	waits := j.soon > 0 && j.track.Category != station.SFX
	if w.opt.Preview == nil || !waits && !j.track.Category.Music() || j.airs || !uncut(j.track) {
		return false
	}
	e, tried := w.early[j.track.Path]
	return !tried || e.profile != j.profile
}

// measuring returns the song that is being measured, if what is measured still counts.
func (w *runner) measuring() (job, bool) {
	if w.previewed == nil {
		return job{}, false
	}
	t := w.previewed.track
	now, there := find(w.tracks, t.Path)
	return *w.previewed, there && unchanged(now, t) && !w.decided(now)
}

// nextSong returns the next song to measure; false when there is none now.
func (w *runner) nextSong() (job, bool) {
	if w.previewed != nil || len(w.unheard) == 0 {
		return job{}, false
	}
	j := w.unheard[0]
	w.unheard, w.previewed = w.unheard[1:], &j
	return j, true
}

// awaitsSong reports that nothing should be mastered now, because the first song is being
// measured. Where none of the first can air so, as in a library with silence at the head of
// every file, only mastering brings one on air.
func (w *runner) awaitsSong() bool {
	return w.songs == 0 && w.unfitSongs < enoughSongs && (w.previewed != nil || len(w.unheard) > 0)
}

// measuredSong handles the outcome of a preview. A song that it failed for waits for its
// copy: mastering finds out why.
func (w *runner) measuredSong(ctx context.Context, m measured) {
	_, counts := w.measuring()
	w.previewed = nil
	if ctx.Err() != nil {
		return
	}
	if counts {
		w.learn(m)
	}
	if len(w.unheard) == 0 {
		w.plan() // others may take the place of those that cannot air
	}
}

// learn keeps what a preview found.
func (w *runner) learn(m measured) {
	t := m.job.track
	e := early{size: t.Size, mtime: t.ModTime.UnixNano(), profile: m.job.profile}
	e.airs = m.err == nil && m.seen.Lead <= mostLead && m.seen.Tail <= mostTail && math.Abs(m.seen.Offset) <= mostOffset
	w.opt.Log.Debug("song measured ahead of its copy", "file", t.Path, "airs", e.airs, "gain_db", m.seen.Gain, "err", m.err)
	song := t.Category.Music()
	if song {
		w.unfitSongs++
	}
	if e.airs {
		e.gain = m.seen.Gain
		if w.dirty = true; w.songs == 0 {
			w.published = time.Time{} // at once
		}
		if w.airing++; song {
			w.songs, w.unfitSongs = w.songs+1, 0
		}
	}
	w.mu.Lock()
	w.early[t.Path] = e
	w.mu.Unlock()
}

// airsMeanwhile reports that an older version of a file airs, or the file itself by its
// own gain.
func (w *runner) airsMeanwhile(j *job) bool { return j.airs || w.early[j.track.Path].airs }

// decided reports that a file is as its last decision found it.
func (r *Rack) decided(t station.Track) bool {
	w, known := r.rows[t.Path]
	return known && w.current(t) && w.state != lost
}

// forgetEarly drops what is known of songs that are decided, changed or gone.
func (w *runner) forgetEarly() {
	if len(w.early) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.early, func(rel string, e early) bool {
		t, there := find(w.tracks, rel)
		return !there || !e.of(t) || w.decided(t)
	})
}
