package rotation

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Millis is a duration in the configuration: whole milliseconds.
type Millis int64

// Duration returns m as a time.Duration.
func (m Millis) Duration() time.Duration { return time.Duration(m) * time.Millisecond }

// UnmarshalJSON takes any JSON number of milliseconds, 5.4e6 included.
func (m *Millis) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return fmt.Errorf("duration in milliseconds: %w", err)
	}
	if math.Abs(f) > 1e15 {
		return fmt.Errorf("duration in milliseconds: %g is out of range", f)
	}
	*m = Millis(math.Round(f))
	return nil
}

// Millisecond counts of the defaults.
const (
	second Millis = 1000
	minute        = 60 * second
	hour          = 60 * minute
)

// Knobs are the mission's rotation knobs (*Rotation and scheduler
// configuration*); it does not have those after SIG_JINGLE_MAX_SLOTS.
type Knobs struct {
	BufferMax         int     `json:"BUFFER_MAX"`           // entries of a rotation
	RefreshFraction   float64 `json:"REFRESH_FRACTION"`     // consumed share that triggers a rebuild
	MusicFresh        Millis  `json:"MUSIC_FRESH_MS"`       // an aired track stays out this long
	CooldownPeriod    Millis  `json:"COOLDOWN_PERIOD"`      // of a track
	ElementCooldown   Millis  `json:"ELEMENT_COOLDOWN"`     // of an imaging element
	SigJingleMinSlots int     `json:"SIG_JINGLE_MIN_SLOTS"` // imaging breaks from one signature jingle
	SigJingleMaxSlots int     `json:"SIG_JINGLE_MAX_SLOTS"` // to the next, inclusive
	MusicMin          Millis  `json:"MUSIC_MIN_MS"`         // the quality floor of music
	ArtistGap         Millis  `json:"ARTIST_GAP_MS"`        // between songs of one artist; 0 is off
	TitleGap          Millis  `json:"TITLE_GAP_MS"`         // between songs of one title; 0 is off
	AlbumGap          Millis  `json:"ALBUM_GAP_MS"`         // between songs of one album; 0 is off
	MinRest           Millis  `json:"MIN_REST_MS"`          // no song airs again within this, even if material runs short
	MaxPlaysDay       int     `json:"MAX_PLAYS_DAY"`        // of a song within 24 hours; 0 is off
	SameHour          bool    `json:"SAME_HOUR"`            // keeps songs out of the hour of the day in which they aired yesterday
	PostEvery         int     `json:"POST_EVERY"`           // picks of a category from one listener's post to the next; 0 is none
	RequestEvery      int     `json:"REQUEST_EVERY"`        // songs from one listener's request to the next; 0 is none
}

// Config is the scheduler configuration.
type Config struct {
	Rotation Knobs `json:"ROTATION"`
	// GenreSplit weighs the music decks against each other; weights need not
	// sum to one. MashupChance decides on mashups instead.
	GenreSplit map[station.Category]float64 `json:"GENRE_SPLIT"`
	// MashupChance is the chance that a music entry is a mashup.
	MashupChance float64 `json:"MASHUP_CHANCE"`
	// SFXChance is the chance that an imaging break opens with a sound effect.
	SFXChance float64 `json:"STOCHASTIC_SFX_CHANCE"`
	// AdEvery is the number of entries from one ad to the next; 0 means no ads. The
	// mission gives no value. The default, 16, is about every half hour.
	AdEvery int `json:"AD_EVERY"`
	// Dayparts replace the built-in ones; nil keeps those, an empty list means none.
	Dayparts []Daypart `json:"DAYPARTS"`
	// Clocks lay out hours; where none holds, the mission's slot spacing runs.
	Clocks []HourClock `json:"CLOCKS"`
}

// DefaultConfig returns the mission's defaults, and own ones where it gives none.
func DefaultConfig() Config {
	return Config{
		Rotation: Knobs{
			BufferMax: 120, RefreshFraction: 0.85,
			MusicFresh: 3 * hour, CooldownPeriod: 90 * minute, ElementCooldown: 10 * minute,
			SigJingleMinSlots: 2, SigJingleMaxSlots: 5,
			MusicMin: 45 * second, ArtistGap: 30 * minute, TitleGap: 60 * minute, AlbumGap: 20 * minute,
			MinRest: 30 * minute, MaxPlaysDay: 6, SameHour: true,
			PostEvery: 3, RequestEvery: 3,
		},
		GenreSplit:   map[station.Category]float64{station.ArabicHits: 0.65, station.English: 0.30, station.Social: 0.05},
		MashupChance: 0.06,
		SFXChance:    0.45,
		AdEvery:      16,
	}
}

// Of the picks of a category at most every third is a listener's, and the knobs end where
// a rotation does.
const leastEvery, mostEvery = 3, 120

// mostEntries bounds BUFFER_MAX; the playlist file holds even fewer.
const mostEntries = 1000

// Validate returns an error for every invalid field, with what would be valid.
func (c Config) Validate() error {
	var errs []error
	bad := func(wrong bool, field, want string) {
		if wrong {
			errs = append(errs, fmt.Errorf("%s: %s: %w", field, want, station.ErrInvalid))
		}
	}
	k := c.Rotation
	bad(k.BufferMax < 1 || k.BufferMax > mostEntries, "ROTATION.BUFFER_MAX", "must be 1 to 1000")
	bad(!(k.RefreshFraction > 0 && k.RefreshFraction <= 1), "ROTATION.REFRESH_FRACTION", "must be above 0, at most 1")
	for _, d := range []struct {
		field string
		value Millis
	}{
		{"MUSIC_FRESH_MS", k.MusicFresh}, {"COOLDOWN_PERIOD", k.CooldownPeriod}, {"ELEMENT_COOLDOWN", k.ElementCooldown},
		{"MUSIC_MIN_MS", k.MusicMin}, {"ARTIST_GAP_MS", k.ArtistGap}, {"TITLE_GAP_MS", k.TitleGap}, {"ALBUM_GAP_MS", k.AlbumGap},
		{"MIN_REST_MS", k.MinRest},
	} {
		bad(d.value < 0 || d.value > 72*hour, "ROTATION."+d.field, "must be 0 to 72 hours, in milliseconds")
	}
	bad(k.MaxPlaysDay < 0 || k.MaxPlaysDay > 1000, "ROTATION.MAX_PLAYS_DAY", "must be 0 (off) to 1000")
	bad(k.SigJingleMinSlots < 1, "ROTATION.SIG_JINGLE_MIN_SLOTS", "must be at least 1")
	bad(k.SigJingleMaxSlots < k.SigJingleMinSlots, "ROTATION.SIG_JINGLE_MAX_SLOTS", "must be at least SIG_JINGLE_MIN_SLOTS")
	seldom := func(n int) bool { return n == 0 || n >= leastEvery && n <= mostEvery }
	bad(!seldom(k.PostEvery), "ROTATION.POST_EVERY", "must be 0 (none), or 3 to 120")
	bad(!seldom(k.RequestEvery), "ROTATION.REQUEST_EVERY", "must be 0 (none), or 3 to 120")
	sum := 0.0
	for _, cat := range slices.Sorted(maps.Keys(c.GenreSplit)) {
		w := c.GenreSplit[cat]
		field := "GENRE_SPLIT." + string(cat)
		bad(!splits(cat), field, "must be one of arabic_hits, english, social")
		bad(!weight(w), field, "must be 0 to 1000")
		sum += max(w, 0)
	}
	bad(len(c.GenreSplit) > 0 && !(sum > 0), "GENRE_SPLIT", "needs one weight above 0")
	bad(!chance(c.MashupChance), "MASHUP_CHANCE", "must be 0 to 1")
	bad(!chance(c.SFXChance), "STOCHASTIC_SFX_CHANCE", "must be 0 to 1")
	bad(c.AdEvery < 0, "AD_EVERY", "must be 0 (none) or more")
	errs = append(errs, validDayparts(c.Dayparts)...)
	for i, d := range c.Dayparts {
		shares := slices.Collect(maps.Values(weights(c, d)))
		bad(len(shares) > 0 && !(slices.Max(shares) > 0), fmt.Sprintf("DAYPARTS[%d].weights", i), "must leave music that may be played")
	}
	errs = append(errs, validClocks(c.Clocks, c.dayparts())...)
	return errors.Join(errs...)
}

// splits reports whether GENRE_SPLIT weighs c.
func splits(c station.Category) bool { return c.Music() && c != station.Mashups }

func chance(f float64) bool { return f >= 0 && f <= 1 }
func weight(f float64) bool { return f >= 0 && f <= 1000 }
