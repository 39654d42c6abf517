// Package importtest makes stations of other systems that look real, for tests: backups in
// every form, and servers that speak their API with the faults of a bad day.
package importtest

import (
	"fmt"
	"math"

	"github.com/athir-radio/athir/internal/sound/wav"
)

// Azura is an AzuraCast with its stations.
type Azura struct{ Stations []AzuraStation }

// AzuraStation is one station of it.
type AzuraStation struct {
	ID                int
	Name, Short, Zone string
	Media             []AzuraMedia
	Lists             []AzuraList
	Streamers         []AzuraStreamer
	Webhooks          []AzuraWebhook
}

// Storage is the id of its media's storage location.
func (s AzuraStation) Storage() int { return s.ID * 10 }

// AzuraMedia is a track; File is nil where only the database has it.
type AzuraMedia struct {
	ID                                 int
	Path, Title, Artist, Album, Genre  string
	Length                             float64
	CueIn, CueOut, CrossStart, Amplify float64 // 0: none
	File                               []byte
}

// AzuraList is a playlist.
type AzuraList struct {
	ID                                   int
	Name, Type, Source, Order            string
	RemoteURL, RemoteType, Options       string
	Off, Jingle                          bool
	PerSongs, PerMinutes, Minute, Weight int
	Items                                []int // media, in order
	Times                                []AzuraTime
}

// AzuraTime is when one plays.
type AzuraTime struct {
	Start, End  int // HHMM
	From, Until string
	Days        string // 1,2,3
	LoopOnce    bool
}

// AzuraStreamer is a DJ.
type AzuraStreamer struct {
	ID                   int
	Login, Name, Comment string
	Off                  bool
	Times                []AzuraTime
}

// AzuraWebhook is a web hook.
type AzuraWebhook struct {
	ID                 int
	Name, Type, Target string
	Events             []string
	Off                bool
}

func pick(all []string, n int) string { return all[n%len(all)] }

func artists() []string {
	return []string{"فيروز", "أم كلثوم", "Amr Diab", "عبد الحليم حافظ", "Dido", "محمد منير", "Sinéad O'Connor", "كاظم الساهر", `Weird "Al"`, "نجاة الصغيرة"}
}

func titles() []string {
	return []string{"نسم علينا الهوى", "إنت عمري", "Nour El Ein", "قارئة الفنجان", "Thank You", "الليلة يا سمرا", "It's a long way;", "زيديني عشقًا", `Back\slash`, "عيون القلب"}
}

// NewAzura makes two stations. The first has so many tracks, of which every that-many-th has a
// file, one of jingles too; playlists of each type, order and kind of schedule; and all else
// that an import meets.
func NewAzura(tracks, fileEvery int) *Azura {
	first := AzuraStation{ID: 1, Name: "راديو الأثير", Short: "athir", Zone: "Asia/Damascus"}
	for i := range tracks {
		first.Media = append(first.Media, azuraTrack(i, fileEvery))
	}
	for i := range 12 {
		m := AzuraMedia{ID: 100_000 + i, Path: fmt.Sprintf("Station IDs/id %02d.wav", i), Title: fmt.Sprintf("هوية المحطة %d", i), Artist: "الأثير", Length: 4.5, File: Tone(1000+i, 4500)}
		first.Media = append(first.Media, m)
	}
	first.Lists = azuraLists(tracks)
	first.Streamers = []AzuraStreamer{
		{ID: 1, Login: "dj_nour", Name: "نور", Comment: "مساء الجمعة\nmy \"show\"", Times: []AzuraTime{{Start: 2000, End: 2200, Days: "5"}}},
		{ID: 2, Login: "DJ Sami", Name: "Sami"},
		{ID: 3, Login: "gone", Name: "Gone", Off: true},
	}
	first.Webhooks = []AzuraWebhook{
		{ID: 1, Name: "الموقع", Type: "generic", Target: "https://example.org/hook?a=1&b='2'", Events: []string{"song_changed", "live_connect", "listener_gained"}},
		{ID: 2, Name: "Chat", Type: "discord", Target: "https://discord.example.org/x", Events: []string{"song_changed"}},
		{ID: 3, Name: "Off", Type: "generic", Target: "https://example.org/off", Events: []string{"station_offline", "station_online"}, Off: true},
	}
	second := AzuraStation{ID: 2, Name: "Second Station", Short: "second", Zone: "UTC"}
	second.Media = []AzuraMedia{{ID: 900_001, Path: "only.wav", Title: "Only", Artist: "One", Length: 2, File: Tone(9001, 2000)}}
	second.Lists = []AzuraList{{ID: 900, Name: "default", Type: "default", Source: "songs", Order: "shuffle", Weight: 3, Items: []int{900_001}}}
	return &Azura{[]AzuraStation{first, second}}
}

func azuraTrack(i, fileEvery int) AzuraMedia {
	m := AzuraMedia{
		ID: i + 1, Title: fmt.Sprintf("%s %d", pick(titles(), i), i), Artist: pick(artists(), i), Album: fmt.Sprintf("Album %d", i/12), Genre: pick([]string{"طرب", "Pop", "", "شعبي"}, i),
		Length: 120 + float64(i%240) + 0.25,
	}
	m.Path = fmt.Sprintf("Music/%s/%04d - %s.mp3", pick([]string{"عربي", "Pop", "Rock & Roll", "80's"}, i/7), i, pick([]string{"أغنية", "song", "It's"}, i))
	if fileEvery > 0 && i%fileEvery == 0 {
		m.Path, m.Length = m.Path[:len(m.Path)-4]+".wav", 2
		m.File = Tone(i, 2000)
	}
	switch {
	case i%50 == 3:
		m.CueIn, m.CueOut = 1.5, m.Length-2
	case i%50 == 7:
		m.CrossStart, m.Amplify = m.Length-5, -1.5
	}
	return m
}

func azuraLists(tracks int) []AzuraList {
	some := func(from, step, n int) (out []int) {
		for i := range n {
			out = append(out, (from+i*step)%tracks+1)
		}
		return out
	}
	jingles := func() (out []int) {
		for i := range 12 {
			out = append(out, 100_000+i)
		}
		return out
	}
	all := []AzuraList{
		{Name: "كل الأغاني", Type: "default", Order: "shuffle", Weight: 5, Items: some(0, 1, tracks)},
		{Name: "Classics", Type: "default", Order: "random", Weight: 3, Items: some(5, 7, min(tracks, 300))},
		{Name: "سهرة الجمعة", Type: "default", Order: "sequential", Weight: 3, Items: some(tracks-1, tracks-3, min(tracks, 40)), Times: []AzuraTime{{Start: 2200, End: 200, Days: "5,6"}}},
		{Name: "Album of the week", Type: "default", Order: "sequential", Weight: 3, Items: some(10, 1, min(tracks, 12)), Times: []AzuraTime{{Start: 2000, End: 2000, Days: "7", LoopOnce: true, From: "2026-01-04", Until: "2026-12-27"}}},
		{Name: "At noon", Type: "default", Order: "shuffle", Items: some(20, 1, min(tracks, 5)), Times: []AzuraTime{{Start: 1200, End: 1200}}},
		{Name: "هويات", Type: "once_per_x_songs", Order: "shuffle", PerSongs: 4, Jingle: true, Items: jingles()},
		{Name: "Half-hourly", Type: "once_per_x_minutes", Order: "random", PerMinutes: 30, Items: some(30, 3, min(tracks, 8))},
		{Name: "Top of the hour", Type: "once_per_hour", Order: "sequential", Minute: 5, Items: some(40, 3, min(tracks, 8)), Options: "interrupt,single_track"},
		{Name: "Liquidsoap's own", Type: "custom", Order: "shuffle", Items: some(50, 3, min(tracks, 8))},
		{Name: "رمضان", Type: "default", Order: "shuffle", Items: some(60, 3, min(tracks, 20)), Times: []AzuraTime{{Start: 0, End: 2359, From: "2027-02-08", Until: "2027-03-09"}}, Off: true},
		{Name: "Elsewhere", Type: "default", Source: "remote_url", Order: "shuffle", RemoteURL: "https://example.org/list.m3u", RemoteType: "playlist"},
		{Name: "Relay", Type: "default", Source: "remote_url", Order: "shuffle", RemoteURL: "https://example.org/live.mp3", RemoteType: "stream"},
		{Name: "classics", Type: "default", Order: "shuffle", Weight: 2, Items: some(3, 11, min(tracks, 9))},
		{Name: "Empty", Type: "default", Order: "shuffle"},
	}
	for i := range all {
		all[i].ID = i + 1
		if all[i].Source == "" {
			all[i].Source = "songs"
		}
		if all[i].Weight == 0 {
			all[i].Weight = 3
		}
	}
	return all
}

// Tone is a WAV file of so many milliseconds; another number sounds otherwise.
func Tone(number, ms int) []byte {
	const rate = 8000
	samples := make([]int16, rate*ms/1000)
	for i := range samples {
		at := float64(i) / rate
		v := math.Sin(2*math.Pi*(200+float64(number%97)*7)*at) * math.Sin(2*math.Pi*(1.3+float64(number%13)/7)*at)
		samples[i] = int16(9000 * v)
	}
	return wav.PCM16(rate, 1, samples)
}
