package lists

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// Kind says where a playlist's tracks come from.
type Kind string

// The kinds.
const (
	Hand   Kind = "hand"   // an operator chose each
	Smart  Kind = "smart"  // what a search finds
	Remote Kind = "remote" // a playlist at an address, as far as the library has its tracks
)

// Settings are what an operator says of a playlist, but for the tracks of one by hand.
type Settings struct {
	Name         string             `json:"name" doc:"Unlike that of any other"`
	Note         string             `json:"note,omitempty" doc:"For whoever works with it"`
	Kind         Kind               `json:"kind" enum:"hand,smart,remote"`
	Query        *catalog.Query     `json:"query,omitempty" doc:"Of a smart one"`
	Address      string             `json:"address,omitempty" doc:"Of a remote one: M3U, PLS or XSPF, http or https"`
	EveryMinutes int                `json:"everyMinutes,omitempty" doc:"How often a remote one is fetched: 5 to 10080; without: 60"`
	Order        rotation.ListOrder `json:"order" enum:"sequence,turns,shuffle"`
	Plays        rotation.ListPlays `json:"plays" enum:"clock,only,share,songs,hourly,once"`
	Share        int                `json:"share,omitempty" doc:"Of share: how many of a hundred places for music are its, 1 to 100"`
	EverySongs   int                `json:"everySongs,omitempty" doc:"Of songs: one after so many songs, 1 to 500"`
	Minute       int                `json:"minute,omitempty" doc:"Of hourly: minutes after the hour, 0 to 59"`
	When         []rotation.Window  `json:"when" nullable:"false" doc:"When it may play; without: always"`
	On           bool               `json:"on"`
}

const (
	longestName    = 80   // characters
	longestNote    = 1000 // characters
	longestAddress = 2000 // bytes
	leastMinutes   = 5
	mostMinutes    = 7 * 24 * 60
	usualMinutes   = 60
	mostEvery      = 500
	mostWindows    = 50
	// MostLists and MostItems bound playlists, and the tracks of one.
	MostLists = rotation.MostLists
	MostItems = 20_000
)

// tidied is the settings without what their kind and way of playing do not use.
func (s Settings) tidied() Settings {
	s.Name, s.Note = tidy(s.Name), strings.TrimSpace(norm.NFC.String(s.Note))
	s.Address = strings.TrimSpace(s.Address)
	if s.Kind != Smart {
		s.Query = nil
	}
	if s.Kind != Remote {
		s.Address, s.EveryMinutes = "", 0
	} else if s.EveryMinutes == 0 {
		s.EveryMinutes = usualMinutes
	}
	if s.Plays != rotation.PlaysShare {
		s.Share = 0
	}
	if s.Plays != rotation.PlaysSongs {
		s.EverySongs = 0
	}
	if s.Plays != rotation.PlaysHourly {
		s.Minute = 0
	}
	when := []rotation.Window{}
	for _, w := range s.When {
		w.Days = someOf(w.Days)
		when = append(when, w)
	}
	s.When = when
	if s.Query != nil {
		q := *s.Query
		q.Category, q.Artist, q.Album, q.Genre, q.State = orNil(q.Category), orNil(q.Artist), orNil(q.Album), orNil(q.Genre), orNil(q.State)
		s.Query = &q
	}
	return s
}

// someOf are days, each once, in order; nil for none.
func someOf(days []rotation.Weekday) []rotation.Weekday {
	return orNil(slices.Compact(slices.Sorted(slices.Values(days))))
}

// orNil is nil for an empty list, as one is that was read from the database.
func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return slices.Clone(list)
}

func tidy(text string) string { return strings.Join(strings.Fields(norm.NFC.String(text)), " ") }

// check says what is wrong with tidied settings; parts are the names of the station's dayparts.
func (s Settings) check(parts []string) error {
	if err := s.checkTexts(); err != nil {
		return err
	}
	if err := s.checkKind(); err != nil {
		return err
	}
	switch {
	case !slices.Contains([]rotation.ListOrder{rotation.OrderSequence, rotation.OrderTurns, rotation.OrderShuffle}, s.Order):
		return station.Wrong("order", "must be sequence, turns or shuffle", "ترتيب المقاطع غير معروف")
	case s.Plays == rotation.PlaysOnce && s.Order != rotation.OrderSequence:
		return station.Wrong("order", "must be sequence: it plays once from its beginning", "القائمة التي تُذاع مرة واحدة من أولها ترتيبها بالتتابع")
	case s.Plays == rotation.PlaysOnce && len(s.When) == 0:
		return station.Wrong("when", "must say when it begins", "حدّد الموعد الذي تبدأ فيه القائمة")
	case s.Plays == rotation.PlaysShare && (s.Share < 1 || s.Share > 100):
		return station.Wrong("share", "must be 1 to 100", "النسبة من 1 إلى 100")
	case s.Plays == rotation.PlaysSongs && (s.EverySongs < 1 || s.EverySongs > mostEvery):
		return station.Wrong("everySongs", fmt.Sprintf("must be 1 to %d", mostEvery), fmt.Sprintf("عدد الأغاني من 1 إلى %d", mostEvery))
	case s.Minute < 0 || s.Minute > 59:
		return station.Wrong("minute", "must be 0 to 59", "الدقيقة من صفر إلى 59")
	case !slices.Contains([]rotation.ListPlays{rotation.PlaysClock, rotation.PlaysOnly, rotation.PlaysShare, rotation.PlaysSongs, rotation.PlaysHourly, rotation.PlaysOnce}, s.Plays):
		return station.Wrong("plays", "must be clock, only, share, songs, hourly or once", "طريقة الإذاعة غير معروفة")
	case len(s.When) > mostWindows:
		return station.Wrong("when", fmt.Sprintf("are %d at most", mostWindows), fmt.Sprintf("للقائمة %d موعدًا على الأكثر", mostWindows))
	}
	for i, w := range s.When {
		if err := checkWindow(fmt.Sprintf("when[%d].", i), w, parts); err != nil {
			return err
		}
	}
	return nil
}

func (s Settings) checkTexts() error {
	for field, text := range map[string]string{"name": s.Name, "note": strings.NewReplacer("\n", " ", "\t", " ").Replace(s.Note)} {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return station.Wrong(field, "must be text without control characters", "النص يحتوي على رموز غير مسموح بها")
		}
	}
	switch {
	case s.Name == "" || utf8.RuneCountInString(s.Name) > longestName || len(s.Name) > rotation.LongestListName:
		return station.Wrong("name", fmt.Sprintf("must have 1 to %d characters", longestName), fmt.Sprintf("الاسم من حرف إلى %d حرفًا", longestName))
	case utf8.RuneCountInString(s.Note) > longestNote:
		return station.Wrong("note", fmt.Sprintf("has %d characters at most", longestNote), fmt.Sprintf("الملاحظة %d حرف على الأكثر", longestNote))
	}
	return nil
}

func (s Settings) checkKind() error {
	switch s.Kind {
	case Hand:
	case Smart:
		if s.Query == nil {
			return station.Wrong("query", "must say what it finds", "اكتب بحثًا للقائمة")
		}
		if err := s.Query.Check(); err != nil {
			return station.Wrong("query", err.Error(), "البحث غير صحيح")
		}
	case Remote:
		u, err := url.Parse(s.Address)
		if err != nil || len(s.Address) > longestAddress || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return station.Wrong("address", "must be an address that begins with http:// or https://", "اكتب عنوانًا يبدأ بـ https://‎ أو http://‎")
		}
		if s.EveryMinutes < leastMinutes || s.EveryMinutes > mostMinutes {
			return station.Wrong("everyMinutes", fmt.Sprintf("must be %d to %d", leastMinutes, mostMinutes), fmt.Sprintf("عدد الدقائق من %d إلى %d", leastMinutes, mostMinutes))
		}
	default:
		return station.Wrong("kind", "must be hand, smart or remote", "نوع القائمة غير معروف")
	}
	return nil
}

func checkWindow(at string, w rotation.Window, parts []string) error {
	for _, d := range w.Days {
		if d < 0 || d > 6 {
			return station.Wrong(at+"days", "must be days of the week", "اليوم غير معروف")
		}
	}
	switch {
	case w.Daypart != "" && !slices.Contains(parts, w.Daypart):
		return station.Wrong(at+"daypart", "must be the name of a daypart", "لا توجد فترة بهذا الاسم")
	case w.Start < 0 || w.Start >= 24*60:
		return station.Wrong(at+"start", "must be 00:00 to 23:59", "وقت البداية من 00:00 إلى 23:59")
	case w.End < 0 || w.End > 24*60:
		return station.Wrong(at+"end", "must be 00:00 to 24:00", "وقت النهاية من 00:00 إلى 24:00")
	case w.From != 0 && w.Until != 0 && w.Until < w.From:
		return station.Wrong(at+"until", "must not be before the first day", "آخر يوم قبل أول يوم")
	}
	return nil
}

// list is what the planner is told.
func (s Settings) list(id int64, paths []string) rotation.List {
	return rotation.List{
		ID: id, Name: s.Name, Paths: paths, Order: s.Order, Plays: s.Plays,
		Share: float64(s.Share) / 100, Every: s.EverySongs, Minute: s.Minute, When: s.When,
	}
}
