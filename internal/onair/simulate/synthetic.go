package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Synthetic makes a library of n tracks that resembles a real one: few artists have many
// songs and many have few, some sing together, Arabic names have several spellings, songs
// last 2 to 7 minutes and belong to albums, some titles were recorded twice. It also
// returns the true artists of each track, which its tags only suggest. The same n and
// seed give the same library.
func Synthetic(n int, seed uint64) ([]station.Track, Names) {
	m := &maker{rng: rand.New(rand.NewPCG(seed, 0x6c6962)), sung: map[string][]string{}} //nolint:gosec // not for secrets
	shelf := shelves(max(n, 1))
	for _, c := range station.Categories() {
		if c.Music() {
			m.songs(c, shelf[c])
		} else {
			m.imaging(c, shelf[c])
		}
	}
	return m.out, func(t station.Track) []string { return m.sung[t.Path] }
}

// shelves divides n tracks among the ten categories: the imaging of an ordinary station,
// but at most a quarter of a small library, and music by the default mix.
func shelves(n int) map[station.Category]int {
	out := map[station.Category]int{}
	room := min(76, n/4) + n/200
	for _, s := range []struct {
		c station.Category
		n int
	}{
		{station.News, 3}, {station.Jingles, 8}, {station.Ads, 16}, {station.Sweepers, 22}, {station.SFX, 12}, {station.Shorts, 15},
	} {
		out[s.c] = s.n * room / 76
	}
	music := n
	for _, k := range out {
		music -= k
	}
	small := func(share float64) int { return min(max(int(share*float64(music)), 18), music/8) }
	out[station.Mashups], out[station.Social] = small(0.06), small(0.05)
	out[station.English] = (music - out[station.Mashups] - out[station.Social]) * 32 / 100
	out[station.ArabicHits] = music - out[station.Mashups] - out[station.Social] - out[station.English]
	return out
}

type maker struct {
	rng  *rand.Rand
	out  []station.Track
	sung map[string][]string // artists of each path
}

// libraryMade is when the newest file of a synthetic library was written.
func libraryMade() time.Time { return time.Date(2026, 4, 1, 6, 0, 0, 0, time.UTC) }

func (m *maker) add(t station.Track, artists []string) {
	t.Path = fmt.Sprintf("music/%s/%05d.mp3", t.Category, len(m.out))
	t.Size = int64(t.Duration.Seconds() * 24_000) // 192 kbit/s
	t.ModTime = libraryMade().Add(-time.Duration(len(m.out)) * time.Hour)
	t.AddedAt = t.ModTime
	m.sung[t.Path] = artists
	m.out = append(m.out, t)
}

// performer is one artist of a category.
type performer struct {
	id        string
	spellings []string
	genre     string
	albums    []string
	songs     int
}

// mostOfOne bounds the part of a deck that one artist sings to a seventh: with more, half
// an hour between two songs of one artist and equal plays for every song are not both
// possible.
const mostOfOne = 7

// songs makes a deck. Artist number i has songs in proportion to 1/i^0.7; one in fourteen
// is sung with another artist.
func (m *maker) songs(c station.Category, n int) {
	if n == 0 {
		return
	}
	cast := m.cast(c, max(2*n/7, 1))
	weights, sum := make([]float64, len(cast)), 0.0
	for i := range cast {
		weights[i] = math.Pow(float64(i+1), -0.7)
		sum += weights[i]
	}
	draw := func() *performer {
		at := m.rng.Float64() * sum
		for i, w := range weights {
			if at -= w; at < 0 {
				return cast[i]
			}
		}
		return cast[0]
	}
	most := max(n/mostOfOne, n/len(cast)+1)
	for i := range n {
		p := draw()
		for range 100 {
			if p.songs < most {
				break
			}
			p = draw()
		}
		p.songs++
		t := station.Track{
			Category: c, Duration: m.length(), Title: m.title(c), Genre: p.genre,
			Artist: p.spellings[m.rng.IntN(len(p.spellings))], Album: p.albums[m.rng.IntN(len(p.albums))],
		}
		artists := []string{p.id}
		if m.rng.IntN(14) == 0 {
			if guest := draw(); guest != p && guest.songs < most {
				guest.songs++
				t.Artist += together(c)[m.rng.IntN(len(together(c)))] + guest.spellings[0]
				artists = append(artists, guest.id)
			}
		}
		if i%150 == 149 { // an interlude below the quality floor
			t.Duration = 20*time.Second + time.Duration(m.rng.IntN(20_000))*time.Millisecond
		}
		m.add(t, artists)
	}
}

// length draws a length, log-normal around 3:45, within 2 to 7 minutes.
func (m *maker) length() time.Duration {
	s := 225 * math.Exp(0.24*m.rng.NormFloat64())
	return time.Duration(min(max(s, 120), 420) * float64(time.Second)).Round(time.Millisecond)
}

// cast invents the artists of a category.
func (m *maker) cast(c station.Category, n int) []*performer {
	first, last := arabicFirst(), arabicLast()
	genres := []string{"pop", "tarab", "shaabi", "mahraganat", "khaleeji"}
	if !arabic(c) {
		first, last = englishFirst(), englishLast()
		genres = []string{"pop", "rock", "r&b", "dance", "soul"}
	}
	pairs := m.rng.Perm(len(first) * len(last))
	out := make([]*performer, n)
	for i := range out {
		pair := pairs[i%len(pairs)]
		name := first[pair%len(first)] + " " + last[pair/len(first)]
		if i >= len(pairs) { // more artists than names
			name += " " + roman(i/len(pairs)+1)
		}
		p := &performer{id: string(c) + ":" + name, spellings: []string{name}, genre: genres[m.rng.IntN(len(genres))]}
		if arabic(c) {
			p.spellings = spellings(name)
		} else {
			p.spellings = append(p.spellings, name, strings.ToUpper(name))
		}
		for k := range 1 + m.rng.IntN(4) {
			p.albums = append(p.albums, fmt.Sprintf("%s %d", m.title(c), 2004+2*k+m.rng.IntN(2)))
		}
		out[i] = p
	}
	return out
}

func arabic(c station.Category) bool { return c == station.ArabicHits || c == station.Social }

// spellings returns the ways in which tags write one Arabic name. The plain one is first,
// and most frequent.
func spellings(name string) []string {
	hamza := strings.NewReplacer("أ", "ا", "إ", "ا", "آ", "ا").Replace(name)
	tatweel := strings.NewReplacer("ين", "يـن", "يم", "يـم", "سع", "سـع", "حم", "حـم", "مص", "مـص", "شي", "شـي").Replace(name)
	vowels := strings.Replace(name, "م", "مُ", 1)
	ending := strings.NewReplacer("ى", "ي", "ة", "ه").Replace(name)
	servant := strings.Replace(name, "عبد ", "عبد", 1)
	return []string{name, name, name, name, name, name, hamza, tatweel, vowels, ending, servant}
}

// together returns the ways in which a collaboration is written.
func together(c station.Category) []string {
	if arabic(c) {
		return []string{" و ", " مع ", "، ", " feat. "}
	}
	return []string{" feat. ", " ft. ", " & ", ", ", " x ", " featuring "}
}

func roman(n int) string { return strings.Repeat("I", n) }

// imaging makes the elements between songs.
func (m *maker) imaging(c station.Category, n int) {
	within := map[station.Category][2]int{ // milliseconds
		station.Ads: {12_000, 40_000}, station.Jingles: {4_000, 14_000}, station.Sweepers: {3_000, 9_000},
		station.SFX: {400, 3_000}, station.Shorts: {20_000, 58_000}, station.News: {60_000, 150_000},
	}[c]
	for i := range n {
		length := within[0] + m.rng.IntN(within[1]-within[0])
		m.add(station.Track{
			Category: c, Title: fmt.Sprintf("%s %d", c, i+1), Artist: "Athir", Duration: time.Duration(length) * time.Millisecond,
		}, nil)
	}
}

// title draws two or three words; some titles are sung by more than one artist.
func (m *maker) title(c station.Category) string {
	words := arabicWords()
	if !arabic(c) {
		words = englishWords()
	}
	out := []string{words[m.rng.IntN(len(words))], words[m.rng.IntN(len(words))]}
	if m.rng.IntN(3) > 0 {
		out = append(out, words[m.rng.IntN(len(words))])
	}
	return strings.Join(out, " ")
}

func arabicFirst() []string {
	return strings.Fields(`أحمد محمد عمرو محمود مصطفى إبراهيم خالد طارق هاني حكيم إيهاب تامر رامي سامي كريم نادر وائل ياسر
		شيرين أنغام نانسي أصالة إليسا نجاة فايزة وردة صباح فيروز أسماء هدى ليلى سميرة لطيفة ذكرى ماجدة نوال أحلام رحاب آمال كاظم`)
}

func arabicLast() []string {
	return strings.Split("دياب|منير|حسني|عاشور|عبد الحليم|عبد الوهاب|عبد الرحمن|الأطرش|الساهر|الرباعي|المهندس|الجسمي|الحلاني|الرومي|كرم|"+
		"عجرم|نصري|سعيد|فؤاد|قنديل|رشدي|فوزي|بليغ|الموجي|حافظ|الطويل|مكاوي|درويش|زكي|شوقي|صبري|عوض|غانم|فهمي|قاسم|كامل|لطفي|ماهر|نصار|هاشم|"+
		"يوسف|البدري|الشامي|المصري|السوري|التونسي|العراقي|اليمني|الليبي|الخطيب", "|")
}

func englishFirst() []string {
	return strings.Fields(`Amber Blake Carter Daisy Ellis Fern Grant Hazel Iris Jasper Kendall Logan Mabel Nolan Olive Parker
		Quinn Rowan Sadie Tatum Ulric Violet Willa Xavier Yates Zelda Aria Bodhi Clara Dylan Elsie Felix Gemma Hugo Ivy Jonah`)
}

func englishLast() []string {
	return strings.Fields(`Abbott Bright Calloway Dalton Everly Fairfax Gentry Holloway Ingram Jennings Kingsley Lennox Mercer
		Norwood Oakley Prescott Quimby Ridley Sinclair Thorne Underhill Vaughn Whitlock Yarrow Zimmer Ashford Barlow Crane Drake
		Eastman Flint Garland Hart Irving Jarvis Keats Langley Marlowe Nash Osborne Pryor Radley Sterling Tate`)
}

func arabicWords() []string {
	return strings.Fields(`قلبي ليلة حبيبي عيونك أنا نور الشوق القمر ليل صوتك بحبك غالي روحي دنيا سهران يا حنين وعدي الأيام أملي
		زمان هواك نسيم البحر النيل وردة فرح دموع طريق سلام حلم ضحكتك مطر سماء نجوم رسالة وحشتني كلام عمري معاك`)
}

func englishWords() []string {
	return strings.Fields(`Midnight River Heart Golden Summer Falling Light Dream Shadow Ocean Fire Silver Road Home Rain City
		Slow Electric Morning Blue Wild Velvet Echo Gravity Paper Crown Lost Harbor Window Neon Winter Stay Tomorrow Whisper`)
}
