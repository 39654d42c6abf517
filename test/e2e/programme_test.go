package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	radio "github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

// A programme at sixty times its speed: a minute of it takes a second, an hour
// a minute. Songs last 4.4 s, the rules' windows shrink alike, and the dayparts,
// which are cut by the minute, become hours.
const speed = 60

// piece is one tone-coded track of the programme's library.
type piece struct {
	id       int
	category radio.Category
	length   time.Duration
	singers  []string // one name each, under one spelling
	artist   string   // as tagged
	title    string
	album    string
}

func (p piece) file() string {
	folder := string(p.category)
	if p.category.Music() {
		folder = "music/" + folder
	}
	return fmt.Sprintf("%s/tone %02d أغنية.mp3", folder, p.id)
}

const (
	song = 4400 * time.Millisecond
	// tooShort is below the floor of programmeRules: such music must not air.
	tooShort = 2 * time.Second
)

// singers have names that are written in more than one way.
func singers() []string {
	return []string{
		"أحلام", "إيمان", "أنور", "إسراء", "أسمهان", "إبراهيم", "أكرم", "إحسان", "أيمن",
		"أروى", "إياد", "آية", "أشرف", "إلياس", "أماني", "آسر", "أمير", "إلهام",
	}
}

// spelt is another spelling of the same name.
func spelt(name string, i int) string {
	switch i % 3 {
	case 1:
		return strings.NewReplacer("أ", "ا", "إ", "ا", "آ", "ا").Replace(name)
	case 2:
		return strings.Replace(name, "م", "مـ", 1)
	}
	return name
}

// singersOfEnglish is how many sing the English songs, in turn.
const singersOfEnglish = 12

// library is 138 tracks in all ten categories, and two that are too short.
func library() (out []piece) {
	arabic := singers()
	english := [singersOfEnglish]string{"Nora", "Sam", "Lily", "Omar", "June", "Adam", "Ruby", "Ted", "Vera", "Hugo", "Mona", "Kit"}
	add := func(n int, c radio.Category, length time.Duration, by func(i int) []string) {
		for i := range n {
			p := piece{id: len(out), category: c, length: length, title: fmt.Sprintf("نغمة %03d", len(out))}
			if by != nil {
				p.singers = by(i)
				var names []string
				for _, s := range p.singers {
					names = append(names, spelt(s, i/2))
				}
				p.artist = strings.Join(names, " feat. ")
				p.album = "ألبوم " + p.singers[0]
			}
			out = append(out, p)
		}
	}
	one := func(names []string) func(int) []string {
		return func(i int) []string { return []string{names[i%len(names)]} }
	}
	add(42, radio.ArabicHits, song, func(i int) []string {
		if i%7 == 6 {
			return []string{arabic[i%len(arabic)], arabic[(i+5)%len(arabic)]}
		}
		return []string{arabic[i%len(arabic)]}
	})
	add(28, radio.English, song, one(english[:]))
	add(15, radio.Mashups, song, func(i int) []string { return []string{english[i%len(english)], arabic[i%len(arabic)]} })
	add(15, radio.Social, song, one([]string{"سعاد", "كريم", "هدى", "ليلى", "منى", "زياد", "رنا", "فادي"}))
	add(6, radio.Jingles, 1600*time.Millisecond, nil)
	add(10, radio.Sweepers, 1400*time.Millisecond, nil)
	add(5, radio.Ads, 2*time.Second, nil)
	add(2, radio.News, 2400*time.Millisecond, nil)
	add(8, radio.Shorts, 1500*time.Millisecond, nil)
	add(7, radio.SFX, 700*time.Millisecond, nil)
	add(2, radio.ArabicHits, tooShort, one(arabic))
	return out
}

// programmeRules are the mission's defaults at speed, but for the length of the
// rotation, and with windows of the wall clock for dayparts. Without any there are
// none: the built-in ones would let a test pass at noon and fail at night.
func programmeRules(length int, dayparts []rotation.Daypart) rotation.Config {
	c := rotation.DefaultConfig()
	k := &c.Rotation
	for _, m := range []*rotation.Millis{
		&k.MusicFresh, &k.CooldownPeriod, &k.ElementCooldown, &k.ArtistGap, &k.TitleGap, &k.AlbumGap, &k.MinRest,
	} {
		*m /= speed
	}
	k.BufferMax, k.MusicMin = length, rotation.Millis(3000)
	k.MaxPlaysDay, k.SameHour = 0, false // of real days
	c.Dayparts = append([]rotation.Daypart{}, dayparts...)
	return c
}

// configure writes the station configuration of a station that has not started.
func (s *station) configure(cfg rotation.Config) {
	s.t.Helper()
	text, err := json.Marshal(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	write(s.t, filepath.Join(s.data, "station.json"), string(text))
}

// record makes the tracks, in parallel. They are old files: the scanner need not
// wait for them to settle. The last of the news is the newest.
func record(t *testing.T, media string, pieces []piece) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, p := range pieces {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			place(t, filepath.Join(media, p.file()), old.Add(time.Duration(p.id)*time.Second), aircheck.Track{
				ID: p.id, Scale: aircheck.Fine, Duration: p.length, Title: p.title, Artist: p.artist, Album: p.album,
			})
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}
