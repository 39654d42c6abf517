package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Fault names a rule that an air log can break: the planner's rules by their names, and
// further rules of the specification.
type Fault string

// The faults. Unbreakable ones always count; breakable ones count unless the entry
// records the rule as relaxed; cadence is judged over the whole log.
const (
	// Unbreakable.
	JustPlayed     Fault = "just-played"
	BackToBack     Fault = "artist-back-to-back"
	MinimumRest    Fault = "minimum-rest"
	QualityFloor   Fault = "quality-floor"
	HardGate       Fault = "hard-gate"
	StaleNews      Fault = "stale-news" // a bulletin older than the newest
	DeadAir        Fault = "dead-air"
	ElementTooSoon Fault = "element-cooldown"
	// Breakable.
	Cooldown    Fault = "cooldown"
	FreshWindow Fault = "fresh-window"
	ArtistGap   Fault = "artist-gap"
	TitleGap    Fault = "title-gap"
	AlbumGap    Fault = "album-gap"
	PlaysPerDay Fault = "plays-per-day"
	SameHour    Fault = "same-hour"
	TimedEvent  Fault = "timed-event"
	// Cadence.
	NewsCadence   Fault = "news-cadence"
	JingleSpacing Fault = "jingle-spacing"
	AdCadence     Fault = "ad-cadence"
	BreakLength   Fault = "break-length"
	Supplement    Fault = "supplement"
	// Listeners.
	PostShare     Fault = "post-share"    // posts of a category closer than POST_EVERY
	RequestShare  Fault = "request-share" // requests closer than REQUEST_EVERY
	GuestPair     Fault = "guests-in-a-row"
	SubmitterHour Fault = "submitter-hour" // a submitter twice within an hour
	PostRelaxed   Fault = "post-relaxed"   // a rule gave way for a post
	Unapproved    Fault = "post-unapproved"
	PostUnheard   Fault = "post-unheard" // within 48 h of its approval
)

// Faults returns all faults, the unbreakable first.
func Faults() []Fault {
	return []Fault{
		JustPlayed, BackToBack, MinimumRest, QualityFloor, HardGate, StaleNews, DeadAir, ElementTooSoon,
		Cooldown, FreshWindow, ArtistGap, TitleGap, AlbumGap, PlaysPerDay, SameHour, TimedEvent,
		NewsCadence, JingleSpacing, AdCadence, BreakLength, Supplement,
		PostShare, RequestShare, GuestPair, SubmitterHour, PostRelaxed, Unapproved, PostUnheard,
	}
}

// Unbreakable reports whether nothing excuses f.
func (f Fault) Unbreakable() bool { return slices.Contains(Faults()[:8], f) }

// Finding is one fault in a log.
type Finding struct {
	Fault Fault
	Index int // index of the entry in the log; -1 for the whole log
	At    time.Time
	Path  string
	Text  string
}

// String is one line for people.
func (f Finding) String() string {
	return fmt.Sprintf("%s  %s  %s: %s", f.At.Format(time.DateTime), f.Fault, f.Path, f.Text)
}

// Verdict is the result of the judge.
type Verdict struct {
	Violations map[Fault]int
	Findings   []Finding // the first few of each fault
	Relaxed    map[rotation.Rule]int
	// Due and Hit count the timed events of clocks: all, and those within tolerance.
	Due, Hit int
}

// Total is the number of all violations.
func (v Verdict) Total() int {
	n := 0
	for _, k := range v.Violations {
		n += k
	}
	return n
}

// Unbreakable is the number of violations that nothing excuses.
func (v Verdict) Unbreakable() int {
	n := 0
	for f, k := range v.Violations {
		if f.Unbreakable() {
			n += k
		}
	}
	return n
}

// findingsKept bounds the findings that are kept of one fault.
const findingsKept = 20

// Names returns the artists of a track, if they are known better than by its tags.
type Names func(station.Track) []string

// Judge checks an air log against the specification. It shares no rule code with the
// planner; names compare as in the planner unless artists is given.
func Judge(r Result, cfg rotation.Config, artists Names) Verdict {
	j := &judge{
		cfg: cfg, log: r.Log, live: r.Live,
		verdict: Verdict{Violations: map[Fault]int{}, Relaxed: map[rotation.Rule]int{}},
		size:    map[station.Category]int{}, last: map[string]time.Time{}, starts: map[string][]time.Time{},
		names: artists, library: r.Started, has: tracksOf(r.Started), choirs: map[string]choir{},
	}
	if j.names == nil {
		j.names = tagged()
	}
	floor := cfg.Rotation.MusicMin.Duration()
	for _, t := range r.Started {
		if t.Category.Music() && t.Duration < floor {
			continue
		}
		j.size[t.Category]++
		if t.Category == station.News && t.ModTime.After(j.newest) {
			j.newest = t.ModTime
		}
	}
	j.lengths(r.Started)
	for i := range j.log {
		j.entry(i)
	}
	j.cadence()
	j.supplement()
	j.clocks()
	j.guests(r)
	slices.SortStableFunc(j.verdict.Findings, func(a, b Finding) int { return cmp.Compare(a.Index, b.Index) })
	return j.verdict
}

// tagged returns the artists by the tags, and folds each spelling once.
func tagged() Names {
	known := map[string][]string{}
	return func(t station.Track) []string {
		keys, ok := known[t.Artist]
		if !ok {
			keys = rotation.ArtistKeys(t.Artist)
			known[t.Artist] = keys
		}
		return keys
	}
}

type judge struct {
	cfg     rotation.Config
	log     []Aired
	live    []Span
	verdict Verdict
	names   Names
	library []station.Track
	has     map[station.Category]int // tracks of any length
	choirs  map[string]choir         // by daypart
	size    map[station.Category]int // tracks that meet the quality floor
	newest  time.Time                // date of the newest bulletin
	length  map[station.Category]time.Duration
	last    map[string]time.Time   // start of each path
	starts  map[string][]time.Time // all starts of each path of music
	byName  [3]map[string]time.Time
	before  []string // artists of the previous music entry
}

func (j *judge) lengths(library []station.Track) {
	j.length = map[station.Category]time.Duration{}
	for _, t := range library {
		if t.Category.Music() && t.Duration >= j.cfg.Rotation.MusicMin.Duration() {
			j.length[t.Category] += t.Duration
		}
	}
	for i := range j.byName {
		j.byName[i] = map[string]time.Time{}
	}
}

func (j *judge) found(f Fault, i int, text string, args ...any) {
	j.verdict.Violations[f]++
	if j.verdict.Violations[f] > findingsKept {
		return
	}
	finding := Finding{Fault: f, Index: i, Text: fmt.Sprintf(text, args...)}
	if i >= 0 {
		finding.At, finding.Path = j.log[i].At, j.log[i].Track.Path
	}
	j.verdict.Findings = append(j.verdict.Findings, finding)
}

// entry judges one line of the log by itself and by the lines before it.
func (j *judge) entry(i int) {
	a := &j.log[i]
	for _, r := range a.Relaxed {
		j.verdict.Relaxed[r]++
	}
	if i > 0 {
		j.afterPrevious(i)
	}
	was, again := j.last[a.Track.Path]
	rest := a.At.Sub(was)
	j.last[a.Track.Path] = a.At
	if a.Track.Category.Music() {
		j.music(i, rest, again)
	} else if !a.exempt() {
		j.element(i, rest, again)
	}
}

// exempt reports whether the planner did not choose the entry for this place.
func (a *Aired) exempt() bool { return a.Forced || a.Stray }

func (j *judge) afterPrevious(i int) {
	a, prev := &j.log[i], &j.log[i-1]
	if a.Track.Path == prev.Track.Path && !a.exempt() {
		j.found(JustPlayed, i, "it had just played")
	}
	end := prev.At.Add(prev.Track.Duration)
	for _, s := range j.live {
		if !s.To.Before(end) && !s.From.After(end) {
			end = s.To
		}
	}
	if gap := a.At.Sub(end); gap > time.Second/10 {
		j.found(DeadAir, i, "nothing was heard for %s before it", gap.Round(time.Millisecond))
	}
}

func (j *judge) element(i int, rest time.Duration, again bool) {
	a := &j.log[i]
	relaxed := a.List != 0 && slices.Contains(a.Relaxed, rotation.Cooldown)
	if again && !relaxed && a.Track.Category != station.News && rest < j.cfg.Rotation.ElementCooldown.Duration() {
		j.found(ElementTooSoon, i, "again after %s", rest.Round(time.Second))
	}
	if a.Track.Category == station.News && a.Track.ModTime.Before(j.newest) {
		j.found(StaleNews, i, "a bulletin of %s, there is one of %s", a.Track.ModTime.Format(time.DateTime), j.newest.Format(time.DateTime))
	}
	hard := WindowAt(j.cfg, a.At).Hard
	if a.List == 0 && a.Track.Category == station.Shorts && hard != "" && hard != station.ArabicHits {
		j.found(HardGate, i, "an Arabic short in the %s-only window", hard)
	}
}

// supplement judges the shares of categories below fewTracks, which may not air more than
// theirs, and of arabic_hits, which supplements them.
func (j *judge) supplement() {
	const enough, points = 300, 2.0 // entries of a daypart; percentage points
	for _, s := range sharesOf(j.cfg, j.library, j.log) {
		if s.Window.Hard != "" || s.Music < enough || j.size[station.ArabicHits] < fewTracks {
			continue
		}
		short := false
		for c, want := range s.Target {
			if got := s.Actual[c]; want > 0 && j.size[c] < fewTracks {
				short = true
				if 100*(got-want) > points {
					j.found(Supplement, -1, "%s has %d tracks and airs %.1f %% of %s, more than its %.1f %%",
						c, j.size[c], 100*got, WindowName(s.Window), 100*want)
				}
			}
		}
		if want, got := s.Target[station.ArabicHits], s.Actual[station.ArabicHits]; short && 100*(want-got) > points {
			j.found(Supplement, -1, "arabic_hits airs %.1f %% of %s, less than its own %.1f %%", 100*got, WindowName(s.Window), 100*want)
		}
	}
}
