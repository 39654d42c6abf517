package rotation

import (
	"fmt"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

const bulletinPath = "news/NEWS.mp3"

// withBulletin is a library of songs and one bulletin, which tells a time.
func withBulletin(songs int, length time.Duration, tells time.Time) Request {
	tracks := []station.Track{{Path: bulletinPath, Category: station.News, Duration: 35 * time.Second, ModTime: tells}}
	for i := range songs {
		tracks = append(tracks, station.Track{
			Path: fmt.Sprintf("music/english/%03d.mp3", i), Category: station.English, Duration: length, Artist: fmt.Sprint("artist ", i), Title: fmt.Sprint("song ", i),
		})
	}
	r := Request{Index: NewIndex(tracks), Config: DefaultConfig(), Now: noon, Seed: 1}
	if !tells.IsZero() {
		r.Tells = map[string]time.Time{bulletinPath: tells}
	}
	return r
}

// A station with one song took the bulletin of an hour ago in the song's place, rather
// than air that twice in a row.
func TestAnOutdatedBulletinTakesNoPlace(t *testing.T) {
	for _, songs := range []int{0, 1, 2, 60} {
		for _, renewed := range []bool{false, true} {
			for name, change := range map[string]func(*Request){
				"nothing": func(*Request) {},
				"a song that has just played": func(r *Request) {
					r.State.LastTrackPlayed = "music/english/000.mp3"
				},
				"news by the clock": func(r *Request) { r.Config.Clocks = clocksOf(t, newsHour) },
				"an overlay": func(r *Request) {
					r.Overlay = Overlay{Posts: map[station.Category][]string{station.English: {bulletinPath}, station.News: {bulletinPath}}, Requests: []string{bulletinPath}}
				},
				"the best of news": func(r *Request) { r.HeadOf = station.News },
			} {
				r := withBulletin(songs, 4*time.Minute, noon.Add(-time.Hour))
				r.Renewed = renewed
				change(&r)
				for i, e := range Build(r).Entries {
					if e.Track.Path == bulletinPath {
						t.Errorf("%d songs, renewed %t, %s: entry %d is the bulletin of an hour ago", songs, renewed, name, i)
						break
					}
				}
			}
		}
	}
}

// Where each place gets a bulletin of its own, the list holds none that is outdated when
// its turn comes, and its places keep the cadence.
func TestPlacesForNewsAreLeftFreeInTheirCadence(t *testing.T) {
	for seed := range uint64(20) {
		r := withBulletin(60, 4*time.Minute, noon)
		r.Seed, r.Renewed, r.Head = seed, true, []string{bulletinPath}
		rot := Build(r)
		starts := Expected(rot.Entries, rot.Starts)
		last, places := 0, 0
		for i, e := range rot.Entries {
			if e.Track.Path == bulletinPath && i > 0 {
				t.Errorf("seed %d: entry %d is the bulletin again, %s after its time", seed, i, starts[i].Sub(noon))
			}
			if !e.AfterNews {
				continue
			}
			places++
			// The entries from the one news to the next: the free place counts as one.
			if d := i - last; places == 1 && (d < newsMin || d > newsMax) || places > 1 && (d+1 < newsMin || d+1 > newsMax) {
				t.Errorf("seed %d: entry %d: news after %d entries", seed, i, d)
			}
			if last = i; starts[i].Sub(noon) < NewsNotice {
				t.Errorf("seed %d: a place for news in %s", seed, starts[i].Sub(noon))
			}
		}
		if places < 4 {
			t.Errorf("seed %d: %d places for news in %d entries", seed, places, len(rot.Entries))
		}
		r.Renewed = false
		for i, e := range Build(r).Entries {
			if e.AfterNews {
				t.Errorf("seed %d: entry %d waits for a bulletin that nobody makes", seed, i)
			}
		}
	}
}

// A clock's news is due at its time, also while its bulletin is still to be made: so a
// skip that moves it has the rotation built again.
func TestAFreePlaceOfAClockIsDueAtItsTime(t *testing.T) {
	r := withBulletin(200, 4*time.Minute, noon.Add(-time.Hour))
	r.Now, r.Renewed = noon.Add(20*time.Minute), true
	r.Config.Clocks = clocksOf(t, newsHour)
	rot := Build(r)
	for i, e := range rot.Entries {
		if !e.AfterNews {
			continue
		}
		start := Expected(rot.Entries, rot.Starts)[i]
		if !e.Due.Equal(noon.Add(time.Hour)) || start.Sub(e.Due).Abs() > e.Tolerance {
			t.Errorf("a place for news at %s is due %s, within %s", start, e.Due, e.Tolerance)
		}
		if off := OffTime(rot, 0, rot.Starts.Add(3*time.Minute)); off == 0 {
			t.Error("three minutes late, and the rotation stays as it is")
		}
		return
	}
	t.Error("no place for the news of 13:00")
}

// Files that tell no time air every 20 to 24 entries, also where those last less than ten
// minutes: the cooldown of imaging does not hold news back.
func TestNewsKeepsItsCadenceWhereSongsAreShort(t *testing.T) {
	for seed := range uint64(20) {
		r := withBulletin(200, 14*time.Second, time.Time{})
		r.Seed, r.Config.Rotation.MusicMin = seed, 1000
		last := -1
		for i, e := range Build(r).Entries {
			if e.Track.Category != station.News {
				continue
			}
			if d := i - last; last >= 0 && (d < newsMin || d > newsMax) {
				t.Errorf("seed %d, entry %d: news after %d entries", seed, i, d)
			}
			last = i
		}
		if last < 90 {
			t.Errorf("seed %d: the last news is entry %d", seed, last)
		}
	}
}
