package simulate

import (
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// music judges one song: first the unbreakable rules, then those that it may break if it
// records them as relaxed.
func (j *judge) music(i int, rest time.Duration, again bool) {
	a := &j.log[i]
	artists := j.names(a.Track)
	if !a.exempt() {
		j.unbreakable(i, artists, rest, again)
		j.breakable(i, artists, rest, again)
	}
	j.before = artists
	for _, name := range artists {
		j.byName[0][name] = a.At
	}
	for k, name := range []string{rotation.Fold(a.Track.Title), rotation.Fold(a.Track.Album)} {
		if name != "" {
			j.byName[k+1][name] = a.At
		}
	}
	j.starts[a.Track.Path] = append(j.within(a, 50*time.Hour), a.At)
}

func (j *judge) unbreakable(i int, artists []string, rest time.Duration, again bool) {
	a := &j.log[i]
	k := j.cfg.Rotation
	gate := WindowAt(j.cfg, a.At)
	w := gateless(gate, j.has)
	for _, name := range artists {
		if slices.Contains(j.before, name) && !j.alone(name, w) && !(a.List != 0 && slices.Contains(a.Relaxed, rotation.ArtistRepeat)) {
			j.found(BackToBack, i, "%q sang the song before", name)
			break
		}
	}
	if least := j.minimumRest(w); again && rest < least {
		j.found(MinimumRest, i, "again after %s, the least is %s", rest.Round(time.Second), least.Round(time.Second))
	}
	if a.List != 0 {
		return // the operator's word outranks the mix, a hard window and the quality floor
	}
	if a.Track.Duration < k.MusicMin.Duration() {
		j.found(QualityFloor, i, "lasts %s", a.Track.Duration)
	}
	if !j.allowed(a.Track.Category, w) {
		j.found(HardGate, i, "%s in the window %s", a.Track.Category, WindowName(w))
	} else if gate.Hard != w.Hard && !slices.Contains(a.Relaxed, rotation.HardGate) {
		j.found(HardGate, i, "%s in the window %s, which has no %s, and does not say so", a.Track.Category, WindowName(w), gate.Hard)
	}
}

// alone reports whether an artist sings all the music of a daypart.
func (j *judge) alone(name string, w rotation.Daypart) bool {
	j.artistGap(name, w)
	return j.choirs[windowKey(w)].share[name] > 0.999
}

// allowed reports whether a daypart may play a category: one with a weight, or
// arabic_hits if it supplements one that is too small.
func (j *judge) allowed(c station.Category, w rotation.Daypart) bool {
	targets := TargetsOf(j.cfg, w)
	if targets[c] > 0 {
		return true
	}
	if c != station.ArabicHits || w.Hard != "" {
		return false
	}
	for other, share := range targets {
		if share > 0 && j.size[other] < fewTracks {
			return true
		}
	}
	return false
}

// minimumRest returns MIN_REST_MS, or a quarter of the music that a daypart has; two thirds
// of a category that airs alone and lasts less than the cooldown.
func (j *judge) minimumRest(w rotation.Daypart) time.Duration {
	total := time.Duration(0)
	for c, share := range TargetsOf(j.cfg, w) {
		if share > 0 {
			total += j.length[c]
		}
	}
	least := total / 4
	if cooldown := j.cfg.Rotation.CooldownPeriod.Duration(); w.Hard != "" && total < cooldown {
		least = total * 2 / 3
	}
	return min(j.cfg.Rotation.MinRest.Duration(), j.cfg.Rotation.CooldownPeriod.Duration(), least)
}

// breakable judges a song by the windows of time of the breakable rules.
func (j *judge) breakable(i int, artists []string, rest time.Duration, again bool) {
	a := &j.log[i]
	k := j.cfg.Rotation
	broken := func(f Fault, text string, args ...any) {
		if !slices.Contains(a.Relaxed, rotation.Rule(f)) {
			j.found(f, i, text, args...)
		}
	}
	if again && rest < k.CooldownPeriod.Duration() {
		broken(Cooldown, "again after %s", rest.Round(time.Second))
	}
	if again && rest < k.MusicFresh.Duration() {
		broken(FreshWindow, "again after %s", rest.Round(time.Second))
	}
	tooSoon := func(f Fault, kind int, name string, gap time.Duration) bool {
		last, ok := j.byName[kind][name]
		since := a.At.Sub(last)
		if !ok || name == "" || since >= gap {
			return false
		}
		broken(f, "%q again after %s", name, since.Round(time.Second))
		return true
	}
	for _, name := range artists {
		if tooSoon(ArtistGap, 0, name, j.artistGap(name, WindowAt(j.cfg, a.At))) {
			break
		}
	}
	tooSoon(TitleGap, 1, rotation.Fold(a.Track.Title), k.TitleGap.Duration())
	tooSoon(AlbumGap, 2, rotation.Fold(a.Track.Album), k.AlbumGap.Duration())
	if most, n := k.MaxPlaysDay, len(j.within(a, 24*time.Hour)); most > 0 && n >= most {
		broken(PlaysPerDay, "play %d within 24 hours", n+1)
	}
	hour := time.Date(a.At.Year(), a.At.Month(), a.At.Day()-1, a.At.Hour(), 0, 0, 0, a.At.Location())
	if k.SameHour && slices.ContainsFunc(j.starts[a.Track.Path], func(at time.Time) bool {
		return !at.Before(hour) && at.Before(hour.Add(time.Hour))
	}) {
		broken(SameHour, "it aired in the same hour yesterday")
	}
}

// within returns the starts of a song within a window of time before it.
func (j *judge) within(a *Aired, window time.Duration) []time.Time {
	all := j.starts[a.Track.Path]
	i := slices.IndexFunc(all, func(at time.Time) bool { return a.At.Sub(at) < window })
	if i < 0 {
		return nil
	}
	return all[i:]
}
