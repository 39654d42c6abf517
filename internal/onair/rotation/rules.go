package rotation

import (
	"math/bits"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Rule names one rule of the ladder.
type Rule string

// The rules, the least important first.
const (
	Turnover     Rule = "turnover"
	SameHour     Rule = "same-hour"
	AlbumGap     Rule = "album-gap"
	TitleGap     Rule = "title-gap"
	ArtistGap    Rule = "artist-gap"
	GenreSplit   Rule = "genre-split"
	DayLimit     Rule = "plays-per-day"
	TimedEvent   Rule = "timed-event"
	FreshWindow  Rule = "fresh-window"
	Cooldown     Rule = "cooldown"
	ArtistRepeat Rule = "artist-back-to-back"
	MinimumRest  Rule = "minimum-rest"
	QualityFloor Rule = "quality-floor"
	HardGate     Rule = "hard-gate"
	TrackLimits  Rule = "track-limits"
	MusicOnly    Rule = "music-only"
	JustPlayed   Rule = "just-played"
)

// RuleInfo describes a rule.
type RuleInfo struct {
	Rule Rule   `json:"rule"`
	Rank int    `json:"rank"` // from 1; a higher rank is relaxed later
	Why  string `json:"why"`
	// Breakable rules give way when material runs short. The others give way
	// only if nothing else could air at all: silence is worse.
	Breakable bool `json:"breakable"`
	// wrong reports whether a track, played now, would break the rule.
	wrong func(p *plan, c *candidate) bool
}

// ladder returns every rule, the least important first. The rules that a track breaks
// form a binary number with the weightiest rule first; the lower, the better. So the
// least important is relaxed first, and no rule is ever broken to save any number of
// lesser ones.
func ladder() []RuleInfo {
	rules := []RuleInfo{
		{Rule: Turnover, Breakable: true, Why: "no song two turns ahead of another of its deck", wrong: aheadOfDeck},
		{Rule: SameHour, Breakable: true, Why: "no song in the hour of the day in which it aired yesterday", wrong: sameHour},
		{Rule: AlbumGap, Breakable: true, Why: "songs of one album stand apart", wrong: albumTooSoon},
		{Rule: TitleGap, Breakable: true, Why: "two recordings of one song stand apart", wrong: titleTooSoon},
		{Rule: ArtistGap, Breakable: true, Why: "songs of one artist stand apart", wrong: artistTooSoon},
		{Rule: GenreSplit, Breakable: true, Why: "the daypart's mix of categories", wrong: otherCategory},
		{Rule: DayLimit, Breakable: true, Why: "no song more often than MAX_PLAYS_DAY within 24 hours", wrong: overDayLimit},
		{Rule: TimedEvent, Breakable: true, Why: "what comes before a timed event of a clock ends in time for it", wrong: missesEvent},
		{Rule: FreshWindow, Breakable: true, Why: "what aired within the fresh window stays out", wrong: notFresh},
		{Rule: Cooldown, Breakable: true, Why: "what aired is on cooldown", wrong: onCooldown},
		{Rule: ArtistRepeat, Breakable: false, Why: "no artist twice in a row", wrong: sameArtist},
		{Rule: MinimumRest, Breakable: false, Why: "no song again within MIN_REST_MS, or a quarter of a smaller library, two thirds of a short deck that airs alone", wrong: notRested},
		{Rule: QualityFloor, Breakable: false, Why: "music lasts at least 45 s", wrong: belowFloor},
		{Rule: HardGate, Breakable: false, Why: "a category the daypart excludes: all but one of a hard window, or of weight 0", wrong: outsideGate},
		{Rule: TrackLimits, Breakable: false, Why: "a track's own dates, hours, plays a day and rest", wrong: beyondOwn},
		{Rule: MusicOnly, Breakable: false, Why: "imaging belongs into breaks", wrong: notMusic},
		{Rule: JustPlayed, Breakable: false, Why: "never again what just played", wrong: justPlayed},
	}
	for i := range rules {
		rules[i].Rank = i + 1
	}
	return rules
}

// Rules describes the ladder, the least important rule first.
func Rules() []RuleInfo { return ladder() }

// breach is a set of broken rules, bit rank-1 each: the lower, the better.
type breach uint32

// bit returns the bit of a rule in a breach.
func bit(rules []RuleInfo, r Rule) breach {
	i := slices.IndexFunc(rules, func(info RuleInfo) bool { return info.Rule == r })
	return 1 << i
}

// rules lists the broken rules, the most important first.
func (b breach) rules(ladder []RuleInfo) []Rule {
	var out []Rule
	for b != 0 {
		top := bits.Len32(uint32(b)) - 1
		out = append(out, ladder[top].Rule)
		b &^= 1 << top
	}
	return out
}

func aheadOfDeck(_ *plan, c *candidate) bool { return c.music && c.round >= c.hand.low+2 }

func sameHour(p *plan, c *candidate) bool {
	return c.music && p.cfg.Rotation.SameHour && slices.ContainsFunc(c.starts, func(at int64) bool {
		return p.sameHour[0] <= at && at < p.sameHour[1]
	})
}

func overDayLimit(p *plan, c *candidate) bool {
	most := p.cfg.Rotation.MaxPlaysDay
	n := len(c.starts)
	return c.music && most > 0 && n >= most && time.Duration(p.at-c.starts[n-most]) < 24*time.Hour
}

func missesEvent(p *plan, c *candidate) bool {
	return p.fit != nil && !p.fit.takes(p.airtime(c))
}

func albumTooSoon(p *plan, c *candidate) bool {
	return p.albums.within(c.album, p.at, p.albumGap)
}

func titleTooSoon(p *plan, c *candidate) bool {
	return p.titles.within(c.title, p.at, p.titleGap)
}

func artistTooSoon(p *plan, c *candidate) bool {
	artist, _ := p.artistNear(c)
	return artist != 0
}

func otherCategory(p *plan, c *candidate) bool { return c.hand.category != p.wanted }

func notFresh(p *plan, c *candidate) bool {
	return c.music && c.since(p.at) < p.fresh
}

func onCooldown(p *plan, c *candidate) bool {
	if c.music {
		return c.since(p.at) < p.cooldown
	}
	cooldown := p.elementCooldown
	if c.hand.category == station.News {
		cooldown = min(cooldown, newsCooldown)
	}
	return c.since(p.at) < cooldown
}

// newsCooldown bounds ELEMENT_COOLDOWN for bulletins where they air outside the cadence:
// the newest airs again until there is a newer one.
const newsCooldown = 10 * time.Minute

func sameArtist(p *plan, c *candidate) bool {
	return c.music && slices.ContainsFunc(c.artists, func(a uint64) bool { return slices.Contains(p.lastArtists, a) })
}

func notRested(p *plan, c *candidate) bool { return c.music && c.since(p.at) < p.rest }

func belowFloor(_ *plan, c *candidate) bool { return c.hand.poor }

func outsideGate(p *plan, c *candidate) bool {
	return c.music && p.weights[c.hand.category] <= 0
}

// beyondOwn reports whether the operator has limited when this track may begin, and it is not
// then.
func beyondOwn(p *plan, c *candidate) bool {
	l := c.limits
	if l == nil {
		return false
	}
	n := len(c.starts)
	return !l.OpenOn(p.day, p.hour) || c.since(p.at) < l.Rest ||
		l.PerDay > 0 && n >= l.PerDay && time.Duration(p.at-c.starts[n-l.PerDay]) < 24*time.Hour
}

func notMusic(_ *plan, c *candidate) bool { return !c.music }

func justPlayed(p *plan, c *candidate) bool { return slices.Contains(p.last, c.path) }
