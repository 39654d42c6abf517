package simulate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// tape is an air log in the making: entries in order, laid end to end later.
type tape struct {
	cfg     rotation.Config
	start   time.Time
	log     []Aired
	library []station.Track
	live    []Span
	posts   []Post
}

const stages = 5 // entries of one block of a clean tape

// clean is a log that breaks nothing: three songs, a sweeper, and in turn news,
// an ad, a signature jingle, an effect. No song or artist comes twice.
func clean(t *testing.T, blocks int) *tape {
	t.Helper()
	p := &tape{cfg: rotation.DefaultConfig(), start: time.Date(2026, 5, 4, 11, 0, 0, 0, zone(t))}
	for b := range blocks {
		for k := range 3 {
			i := 3*b + k
			p.add(station.ArabicHits, i, 4*time.Minute)
		}
		p.add(station.Sweepers, b%20, 5*time.Second)
		switch b % 4 {
		case 0:
			p.add(station.News, 0, 90*time.Second)
		case 1:
			p.add(station.Ads, b%12, 20*time.Second)
		case 2:
			p.add(station.Jingles, b%8, 8*time.Second)
		case 3:
			p.add(station.SFX, b%16, 2*time.Second)
		}
	}
	for _, a := range p.log {
		p.library = append(p.library, a.Track)
	}
	return p
}

func (p *tape) add(c station.Category, i int, d time.Duration) {
	t := station.Track{Path: fmt.Sprintf("music/%s/%d.mp3", c, i), Category: c, Duration: d}
	if c.Music() {
		t.Artist, t.Title, t.Album = fmt.Sprintf("artist %d", i), fmt.Sprintf("song %d", i), fmt.Sprintf("album %d", i)
	}
	p.log = append(p.log, Aired{Track: t})
}

// song returns a music entry of a block, 0 to 2 within it.
func (p *tape) song(block, k int) *Aired { return &p.log[stages*block+k] }

// last returns the fifth entry of a block.
func (p *tape) last(block int) *Aired { return &p.log[stages*block+4] }

// again makes entry to a repeat of from that says which rules it breaks.
func again(to, from *Aired, relaxed ...rotation.Rule) {
	to.Track, to.Relaxed = from.Track, relaxed
}

// lay gives every entry without a time the end of the one before.
func (p *tape) lay() Result {
	at := p.start
	for i := range p.log {
		if p.log[i].At.IsZero() {
			p.log[i].At = at
		}
		at = p.log[i].At.Add(p.log[i].Track.Duration)
	}
	return Result{From: p.start, To: at, Log: p.log, Started: p.library, Live: p.live, Posts: p.posts}
}

// post makes an entry a listener's post, approved so long before it airs.
func (p *tape) post(a *Aired, submitter string, approved time.Duration) {
	a.Track.Submitter, a.Guest = submitter, rotation.GuestPost
	p.posts = append(p.posts, Post{Track: a.Track, Approved: p.start.Add(-approved)})
}

func (p *tape) english() {
	for i := range p.log {
		if p.log[i].Track.Category.Music() {
			p.log[i].Track.Category = station.English
		}
	}
}

// Each plant is one fault in a log that is clean otherwise: the judge must
// report that fault and no other. Five blocks are about an hour.
func TestJudgeReportsExactlyThePlantedFault(t *testing.T) {
	all := []rotation.Rule{"cooldown", "fresh-window", "artist-gap", "title-gap", "album-gap"}
	planted := map[Fault]bool{TimedEvent: true} // below
	for _, c := range []struct {
		name  string
		want  Fault
		plant func(p *tape)
	}{
		{"an element right after itself", JustPlayed, func(p *tape) {
			p.cfg.Rotation.ElementCooldown = 0
			again(p.last(3), &p.log[stages*3+3])
		}},
		{"an artist twice in a row", BackToBack, func(p *tape) {
			p.song(4, 1).Track.Artist = "artist 12"
			p.song(4, 1).Relaxed = all
		}},
		{"an artist twice in a row around a break", BackToBack, func(p *tape) {
			p.song(5, 0).Track.Artist = "ARTIST 14"
			p.song(5, 0).Relaxed = all
		}},
		{"an artist in a collaboration, spelled otherwise", BackToBack, func(p *tape) {
			p.song(4, 1).Track.Artist, p.song(4, 2).Track.Artist = "أحمد سعيد", "هدى feat. احمد سعيد"
			p.song(4, 2).Relaxed = all
		}},
		{"a song after 24 minutes", MinimumRest, func(p *tape) { again(p.song(6, 0), p.song(4, 0), all...) }},
		{"music of 44 s", QualityFloor, func(p *tape) { p.song(4, 1).Track.Duration = 44 * time.Second }},
		{"Arabic in the English-only window", HardGate, func(p *tape) {
			p.english()
			p.start = time.Date(2026, 5, 4, 1, 30, 0, 0, zone(t))
			p.song(10, 1).Track.Category = station.ArabicHits
		}},
		{"Arabic at 02:00 sharp", HardGate, func(p *tape) {
			p.english()
			p.song(0, 0).Track.Category = station.ArabicHits
			p.start = time.Date(2026, 5, 4, 2, 0, 0, 0, zone(t))
		}},
		{"an Arabic short in the English-only window", HardGate, func(p *tape) {
			p.english()
			p.start = time.Date(2026, 5, 4, 1, 30, 0, 0, zone(t))
			p.last(7).Track.Category = station.Shorts
		}},
		{"an old bulletin", StaleNews, func(p *tape) {
			p.library[4].ModTime = p.start
		}},
		{"five seconds of nothing", DeadAir, func(p *tape) {
			p.log[40].At = p.lay().Log[40].At.Add(5 * time.Second)
			for i := 41; i < len(p.log); i++ {
				p.log[i].At = time.Time{}
			}
		}},
		{"an effect after 9 minutes", ElementTooSoon, func(p *tape) {
			p.song(4, 1).Track.Duration = 70 * time.Second
			again(&p.log[stages*4+3], p.last(3))
		}},
		{"a song after 80 minutes", Cooldown, func(p *tape) { again(p.song(11, 0), p.song(4, 2), "fresh-window") }},
		{"a song after two hours and a half", FreshWindow, func(p *tape) { again(p.song(16, 0), p.song(4, 0)) }},
		{"an artist after 24 minutes", ArtistGap, func(p *tape) { p.song(6, 0).Track.Artist = "artist 12" }},
		{"a title after 49 minutes", TitleGap, func(p *tape) { p.song(8, 0).Track.Title = "Song 12" }},
		{"an album after 12 minutes", AlbumGap, func(p *tape) { p.song(5, 0).Track.Album = "album 12" }},
		{"a song for the third time in a day", PlaysPerDay, func(p *tape) {
			p.cfg.Rotation.MaxPlaysDay = 2
			again(p.song(30, 0), p.song(0, 0))
			again(p.song(60, 0), p.song(0, 0))
		}},
		{"a song in the hour in which it aired yesterday", SameHour, func(p *tape) { again(p.song(116, 0), p.song(0, 0)) }},
		{"news left out", NewsCadence, func(p *tape) {
			p.last(8).Track = p.last(3).Track
			p.last(8).Track.Path += "2"
		}},
		{"news too early", NewsCadence, func(p *tape) {
			p.last(7).Track = p.last(8).Track
			p.cfg.Rotation.ElementCooldown = 0
		}},
		{"no more news", NewsCadence, func(p *tape) {
			for b := 8; b < len(p.log)/stages; b += 4 {
				p.last(b).Track.Category = station.SFX
				p.last(b).Track.Path += fmt.Sprint(b)
			}
		}},
		{"a jingle in the break after a jingle", JingleSpacing, func(p *tape) {
			p.last(7).Track = p.last(2).Track
		}},
		{"no jingle for eight breaks", JingleSpacing, func(p *tape) {
			p.last(6).Track.Category = station.SFX
		}},
		{"ads too close", AdCadence, func(p *tape) {
			p.last(7).Track.Category = station.Ads
		}},
		{"no ads", AdCadence, func(p *tape) {
			for b := 1; b < len(p.log)/stages; b += 4 {
				p.last(b).Track.Category = station.SFX
				p.last(b).Track.Path += fmt.Sprint(b)
			}
		}},
		{"a quarter of an hour without music", BreakLength, func(p *tape) {
			for i := range 6 {
				e := p.song(4+i/3, i%3)
				e.Track = station.Track{Path: fmt.Sprintf("music/sweepers/x%d.mp3", i), Category: station.Sweepers, Duration: 2 * time.Minute}
			}
		}},
		{"five mashups play a quarter of all music", Supplement, func(p *tape) {
			p.cfg.Dayparts = []rotation.Daypart{}
			for i := range p.log {
				if e := &p.log[i]; e.Track.Category.Music() && i%4 == 0 {
					e.Track.Category = station.Mashups
				}
			}
		}},
		{"two posts of a category with one entry between", PostShare, func(p *tape) {
			p.post(p.song(4, 0), "a", time.Hour)
			p.post(p.song(4, 2), "b", time.Hour)
		}},
		{"a post where there should be none", PostShare, func(p *tape) {
			p.cfg.Rotation.PostEvery = 0
			p.post(p.song(4, 0), "a", time.Hour)
		}},
		{"two requests with one song between", RequestShare, func(p *tape) {
			p.song(4, 0).Guest, p.song(4, 2).Guest = rotation.GuestRequest, rotation.GuestRequest
		}},
		{"a request right after a post", GuestPair, func(p *tape) {
			p.post(p.song(4, 0), "a", time.Hour)
			p.song(4, 1).Guest = rotation.GuestRequest
		}},
		{"a submitter after 24 minutes", SubmitterHour, func(p *tape) {
			p.post(p.song(4, 0), "a", time.Hour)
			p.post(p.song(6, 0), "a", time.Hour)
		}},
		{"a post for which a rule gave way", PostRelaxed, func(p *tape) {
			p.post(p.song(4, 0), "a", time.Hour)
			p.song(4, 0).Relaxed = []rotation.Rule{rotation.AlbumGap}
		}},
		{"a post before its approval", Unapproved, func(p *tape) { p.post(p.song(4, 0), "a", -10*time.Hour) }},
		{"a post after 49 hours", PostUnheard, func(p *tape) { p.post(p.song(10, 0), "a", 47*time.Hour) }},
		{"a post that never airs", PostUnheard, func(p *tape) {
			p.posts = []Post{{Track: station.Track{Path: "never", Submitter: "a"}, Approved: p.start.Add(-46 * time.Hour)}}
		}},
	} {
		planted[c.want] = true
		t.Run(c.name, func(t *testing.T) {
			p := clean(t, 120)
			if days := []Fault{Supplement, PlaysPerDay, SameHour}; slices.Contains(days, c.want) {
				p.cfg.Dayparts = []rotation.Daypart{}
			} else {
				p.log = p.log[:20*stages] // before the night
			}
			if v := Judge(p.lay(), p.cfg, nil); v.Total() != 0 {
				t.Fatalf("the log was not clean: %v", v.Findings)
			}
			for i := range p.log {
				p.log[i].At = time.Time{}
			}
			c.plant(p)
			v := Judge(p.lay(), p.cfg, nil)
			if got := slices.Sorted(maps.Keys(v.Violations)); !slices.Equal(got, []Fault{c.want}) {
				t.Errorf("found %v, want %s alone:\n%v", v.Violations, c.want, v.Findings)
			}
		})
	}
	for _, f := range Faults() {
		if !planted[f] {
			t.Errorf("no log with %s was judged", f)
		}
	}
}

// What looks like a fault and is none.
func TestJudgeLeavesHonestLogsAlone(t *testing.T) {
	all := []rotation.Rule{"cooldown", "fresh-window", "artist-gap", "title-gap", "album-gap"}
	for name, plant := range map[string]func(p *tape){
		"a repeat that says which rules it breaks": func(p *tape) { again(p.song(8, 0), p.song(4, 0), all...) },
		"the operator's choice": func(p *tape) {
			again(p.song(4, 1), p.song(4, 0))
			p.song(4, 1).Forced = true
		},
		"an entry the engine had taken before a rebuild": func(p *tape) {
			again(p.song(4, 1), p.song(4, 0))
			p.song(4, 1).Stray = true
		},
		"gaps exactly as long as asked": func(p *tape) {
			p.song(6, 0).Track.Artist = "artist 12"
			p.cfg.Rotation.ArtistGap = rotation.Millis(p.lay().Log[30].At.Sub(p.log[20].At).Milliseconds())
		},
		"Arabic until 01:59:59 and from 05:00:00": func(p *tape) {
			p.start = time.Date(2026, 5, 4, 5, 0, 0, 0, zone(t))
			p.log = p.log[:5*stages]
		},
		"what listeners may bring": func(p *tape) {
			p.post(p.song(4, 0), "a", 40*time.Hour)
			p.song(4, 2).Guest = rotation.GuestRequest
			p.post(p.song(5, 1), "b", 40*time.Hour)
			p.post(p.song(10, 1), "a", 40*time.Hour)
			p.posts = append(p.posts, Post{Track: station.Track{Path: "soon", Submitter: "c"}, Approved: p.start})
		},
		"a post of the operator's choice": func(p *tape) {
			p.post(p.song(4, 0), "a", time.Hour)
			p.post(p.song(4, 1), "a", time.Hour)
			p.song(4, 1).Forced = true
		},
		"nothing of ours during a takeover": func(p *tape) {
			r := p.lay()
			p.live = []Span{{r.Log[39].At.Add(time.Second), r.Log[39].At.Add(time.Hour)}}
			for i := 40; i < len(p.log); i++ {
				p.log[i].At = time.Time{}
			}
			p.log[40].At = p.live[0].To
			p.last(8).Track.Category = station.SFX // the news that was due fell to the takeover
			p.last(8).Track.Path += "2"
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := clean(t, 20)
			plant(p)
			if v := Judge(p.lay(), p.cfg, nil); v.Total() != 0 {
				t.Errorf("found %v", v.Findings)
			}
		})
	}
}

// The judge works out for itself which events are due, by day, daypart and hour.
func TestJudgeFindsEveryTimedEvent(t *testing.T) {
	var clocks struct{ Clocks []rotation.HourClock }
	const doc = `{"clocks": [
		{"name": "not today", "days": ["fri"], "hour": [{"category": "ads", "at": "10:00"}]},
		{"name": "afternoon", "daypart": "midday", "start": "12:00", "end": "15:00", "hour": [{"category": "news", "at": "00:00"}, {"category": "music", "at": "30:00", "tolerance": 200}]},
		{"name": "what there is none of", "start": "16:00", "end": "17:00", "hour": [{"category": "social", "at": "00:00"}]}]}`
	if err := json.Unmarshal([]byte(doc), &clocks); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name                string
		plant               func(p *tape, r Result)
		due, hit, violation int
	}{
		{"all on time", func(*tape, Result) {}, 6, 6, 0},
		{"31 s late", func(_ *tape, r Result) { late(r, 13, 31*time.Second) }, 6, 5, 0}, // a drift nobody could know
		{"40 s late", func(_ *tape, r Result) { late(r, 13, 40*time.Second) }, 6, 5, 1},
		{"40 s late, and says so", func(_ *tape, r Result) { late(r, 13, 40*time.Second).Relaxed = []rotation.Rule{rotation.TimedEvent} }, 6, 5, 0},
		{"30 s early", func(_ *tape, r Result) { late(r, 13, -30*time.Second) }, 6, 6, 0},
		{"never", func(_ *tape, r Result) { late(r, 13, 0).Track.Category = station.SFX }, 6, 5, 1},
		{"under a takeover", func(p *tape, r Result) { p.live = []Span{{r.Log[0].At, r.Log[0].At.Add(2 * time.Hour)}} }, 3, 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := clean(t, 40)
			p.cfg.Clocks = clocks.Clocks
			for i := range p.log { // a bulletin every 20 minutes, a song in between
				p.log[i].At = p.start.Add(time.Duration(i) * 3 * time.Minute)
				if i%20 == 0 {
					p.log[i].Track.Category, p.log[i].Due = station.News, p.log[i].At
				} else if p.log[i].Track.Category == station.News {
					p.log[i].Track.Category = station.SFX
				}
			}
			r := Result{From: p.start, Log: p.log, Started: p.library}
			c.plant(p, r)
			r.Live = p.live
			v := Judge(r, p.cfg, nil)
			if v.Due != c.due || v.Hit != c.hit || v.Violations[TimedEvent] != c.violation {
				t.Errorf("%d due, %d hit, %d violations; want %d, %d, %d: %v", v.Due, v.Hit, v.Violations[TimedEvent], c.due, c.hit, c.violation, v.Findings)
			}
		})
	}
}

// late moves the event of an hour.
func late(r Result, hour int, by time.Duration) *Aired {
	for i := range r.Log {
		if a := &r.Log[i]; a.At.Hour() == hour && a.At.Minute() == 0 && a.Track.Category == station.News {
			a.At = a.At.Add(by)
			return a
		}
	}
	return nil
}
