package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/onair/simulate"
	"github.com/athir-radio/athir/internal/station"
)

// The policies beside ours. docs/rotation.md describes each exactly.
const (
	shuffle     = "shuffle"      // all music shuffled, again when it is through
	random      = "random"       // each song drawn from all music
	leastRecent = "least-recent" // the song that has waited longest
	azuracast   = "azuracast"    // AzuraCast's published duplicate prevention
)

// policies returns all of them, ours first.
func policies() []string { return []string{simulate.Athir, azuracast, shuffle, leastRecent, random} }

// airDays airs the days as a policy would and returns the log.
func airDays(o simulate.Options) (simulate.Result, error) {
	if o.Policy == simulate.Athir {
		return simulate.Run(o)
	}
	o, err := o.WithDefaults()
	if err != nil {
		return simulate.Result{}, err
	}
	return newJukebox(o).run()
}

// jukebox airs a baseline: a chooser picks the music, and imaging comes by a
// plain cadence that is the same for all of them.
type jukebox struct {
	opt     simulate.Options
	rng     *rand.Rand
	choose  chooser
	tally   simulate.Result
	now     time.Time
	imaging map[station.Category][]station.Track
	turn    map[station.Category]int // of each imaging deck, in order
}

// chooser picks the next song.
type chooser interface {
	next(now time.Time) station.Track
}

// The cadence of the baselines: a break of two elements after every third song
// in turn, an ad every 16 entries and news every 22.
const (
	jukeboxSongs = 3
	jukeboxAds   = 16
	jukeboxNews  = 22
)

func newJukebox(o simulate.Options) *jukebox {
	j := &jukebox{
		opt: o, rng: rand.New(rand.NewPCG(o.Seed, 0x6a756b65)), now: o.From, //nolint:gosec // not for secrets
		imaging: map[station.Category][]station.Track{}, turn: map[station.Category]int{},
		tally: simulate.Result{From: o.From, To: o.End(), Started: o.Library},
	}
	var music []station.Track
	for _, t := range o.Library {
		switch {
		case !t.Category.Music():
			j.imaging[t.Category] = append(j.imaging[t.Category], t)
		case t.Duration >= o.Config.Rotation.MusicMin.Duration():
			music = append(music, t)
		}
	}
	// The newest bulletin is the one that airs.
	slices.SortStableFunc(j.imaging[station.News], func(a, b station.Track) int { return b.ModTime.Compare(a.ModTime) })
	j.choose = j.chooser(music)
	return j
}

func (j *jukebox) chooser(music []station.Track) chooser {
	if len(music) == 0 {
		return nil
	}
	switch j.opt.Policy {
	case shuffle:
		return &shuffler{rng: j.rng, all: music}
	case leastRecent:
		order := slices.Clone(music)
		j.rng.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		return &longestWait{order}
	case azuracast:
		return newAzuraCast(j.opt, j.rng, music)
	}
	return randomly{j.rng, music}
}

func (j *jukebox) run() (simulate.Result, error) {
	if j.choose == nil {
		return j.tally, fmt.Errorf("policy %s: %w", j.opt.Policy, simulate.ErrNothing)
	}
	sinceAd, sinceNews := 0, 0
	breaks := 0
	for j.now.Before(j.tally.To) {
		block := make([]station.Track, 0, jukeboxSongs+4)
		at := j.now
		for range jukeboxSongs {
			t := j.choose.next(at)
			block = append(block, t)
			at = at.Add(simulate.Airtime(t.Duration, 2*time.Second, 2*time.Second))
		}
		if sinceNews+len(block)+1 >= jukeboxNews && len(j.imaging[station.News]) > 0 {
			block = append(block, j.imaging[station.News][0])
			sinceNews = -len(block)
		}
		if sinceAd+len(block)+1 >= jukeboxAds && len(j.imaging[station.Ads]) > 0 {
			block = append(block, j.element(station.Ads))
			sinceAd = -len(block)
		}
		pairs := [][2]station.Category{
			{station.SFX, station.Sweepers}, {station.Sweepers, station.Jingles},
			{station.SFX, station.Shorts}, {station.Shorts, station.Sweepers},
		}
		for _, c := range pairs[breaks%len(pairs)] {
			if hard := simulate.WindowAt(j.opt.Config, at).Hard; c == station.Shorts && hard != "" && hard != station.ArabicHits {
				c = station.Sweepers // shorts are Arabic
			}
			if len(j.imaging[c]) > 0 {
				block = append(block, j.element(c))
			}
		}
		breaks++
		sinceAd, sinceNews = sinceAd+len(block), sinceNews+len(block)
		j.air(block)
		if err := j.opt.Progress(j.opt.Done(j.now)); err != nil {
			return j.tally, err
		}
	}
	return j.tally, nil
}

// element is the next of an imaging deck.
func (j *jukebox) element(c station.Category) station.Track {
	deck := j.imaging[c]
	j.turn[c]++
	return deck[(j.turn[c]-1)%len(deck)]
}

// air logs a block; the first of the block after it is music.
func (j *jukebox) air(block []station.Track) {
	for i, t := range block {
		if !j.now.Before(j.tally.To) {
			return
		}
		next := 2 * time.Second
		if i+1 < len(block) {
			next = simulate.CrossOf(block[i+1].Category)
		}
		j.tally.Log = append(j.tally.Log, simulate.Aired{At: j.now, Track: t})
		j.now = j.now.Add(simulate.Airtime(t.Duration, simulate.CrossOf(t.Category), next))
	}
}

// shuffler plays all music in random order, and in another when it is through.
type shuffler struct {
	rng  *rand.Rand
	all  []station.Track
	left []station.Track
}

func (s *shuffler) next(time.Time) station.Track {
	if len(s.left) == 0 {
		s.left = slices.Clone(s.all)
		s.rng.Shuffle(len(s.left), func(a, b int) { s.left[a], s.left[b] = s.left[b], s.left[a] })
	}
	t := s.left[0]
	s.left = s.left[1:]
	return t
}

// randomly draws each song from all, whatever played before.
type randomly struct {
	rng *rand.Rand
	all []station.Track
}

func (r randomly) next(time.Time) station.Track { return r.all[r.rng.IntN(len(r.all))] }

// longestWait plays what has waited longest: a loop, in the order of its
// first round, which is random.
type longestWait struct{ queue []station.Track }

func (l *longestWait) next(time.Time) station.Track {
	t := l.queue[0]
	l.queue = append(l.queue[1:], t)
	return t
}

// azuraCast is the duplicate prevention that AzuraCast publishes (see
// docs/rotation.md): of a shuffled queue, the first track that did not air in
// the window and whose title and whose every artist did not either; where none
// is left, the queue is made and shuffled anew; where that does not help, the
// least recently played of it. It is given a playlist per music category,
// weighted and scheduled as the dayparts are.
type azuraCast struct {
	opt    simulate.Options
	rng    *rand.Rand
	lists  map[station.Category][]station.Track
	queues map[station.Category][]station.Track
	played map[string]time.Time // by path
	recent []played             // within the window, oldest first
}

type played struct {
	at      time.Time
	title   string
	artists []string
}

// azuraCastWindow is its default, 120 minutes.
const azuraCastWindow = 2 * time.Hour

func newAzuraCast(o simulate.Options, rng *rand.Rand, music []station.Track) *azuraCast {
	a := &azuraCast{
		opt: o, rng: rng, lists: map[station.Category][]station.Track{},
		queues: map[station.Category][]station.Track{}, played: map[string]time.Time{},
	}
	for _, t := range music {
		a.lists[t.Category] = append(a.lists[t.Category], t)
	}
	return a
}

func (a *azuraCast) next(now time.Time) station.Track {
	c := a.playlist(now)
	for len(a.recent) > 0 && now.Sub(a.recent[0].at) > azuraCastWindow {
		a.recent = a.recent[1:]
	}
	if len(a.queues[c]) == 0 {
		a.reset(c)
	}
	i := a.distinct(c, now)
	if i < 0 {
		a.reset(c)
		i = a.distinct(c, now)
	}
	if i < 0 {
		i = a.leastRecent(c)
	}
	t := a.queues[c][i]
	a.queues[c] = slices.Delete(a.queues[c], i, i+1)
	a.played[t.Path] = now
	a.recent = append(a.recent, played{now, matching(t.Title), azuraArtists(t.Artist)})
	return t
}

// playlist draws by weight among those that are scheduled now.
func (a *azuraCast) playlist(now time.Time) station.Category {
	shares := simulate.TargetsOf(a.opt.Config, simulate.WindowAt(a.opt.Config, now))
	sum := 0.0
	for _, c := range station.Categories() {
		if len(a.lists[c]) > 0 {
			sum += shares[c]
		}
	}
	at := a.rng.Float64() * sum
	last := station.Category("")
	for _, c := range station.Categories() {
		if len(a.lists[c]) == 0 {
			continue
		}
		if last == "" || shares[c] > 0 {
			last = c
		}
		if at -= shares[c]; at < 0 && shares[c] > 0 {
			return c
		}
	}
	return last
}

func (a *azuraCast) reset(c station.Category) {
	queue := slices.Clone(a.lists[c])
	a.rng.Shuffle(len(queue), func(x, y int) { queue[x], queue[y] = queue[y], queue[x] })
	a.queues[c] = queue
}

// distinct returns the first track of a queue that repeats nothing, first
// among those that did not air in the window themselves; -1 is none.
func (a *azuraCast) distinct(c station.Category, now time.Time) int {
	titles, artists := map[string]bool{}, map[string]bool{}
	for _, p := range a.recent {
		titles[p.title] = true
		for _, name := range p.artists {
			artists[name] = true
		}
	}
	repeats := func(t station.Track) bool {
		return titles[matching(t.Title)] ||
			slices.ContainsFunc(azuraArtists(t.Artist), func(name string) bool { return artists[name] })
	}
	for _, again := range []bool{false, true} {
		for i, t := range a.queues[c] {
			at, heard := a.played[t.Path]
			if (again || !heard || now.Sub(at) > azuraCastWindow) && !repeats(t) {
				return i
			}
		}
	}
	return -1
}

func (a *azuraCast) leastRecent(c station.Category) int {
	best := 0
	for i, t := range a.queues[c] {
		if a.played[t.Path].Before(a.played[a.queues[c][best].Path]) {
			best = i
		}
	}
	return best
}

// azuraArtists splits at the eight separators that AzuraCast lists.
func azuraArtists(artist string) []string {
	const cut = "\a"
	split := strings.NewReplacer(", ", cut, " feat ", cut, " feat. ", cut, " ft ", cut, " ft. ", cut, " / ", cut, " & ", cut, " vs. ", cut)
	var out []string
	for _, name := range strings.Split(split.Replace(strings.TrimSpace(artist)), cut) {
		if name = matching(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

func matching(s string) string { return strings.ToLower(strings.TrimSpace(s)) }
