package overlay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/athir-radio/athir/internal/station"
)

// Note is what an operator says of a track. What is empty is as the file says.
type Note struct {
	Title       string           `json:"title,omitempty"`
	Artist      string           `json:"artist,omitempty"`
	Album       string           `json:"album,omitempty"`
	Genre       string           `json:"genre,omitempty"`
	ISRC        string           `json:"isrc,omitempty" doc:"Code of the recording (ISO 3901), kept without hyphens"`
	Label       string           `json:"label,omitempty" doc:"Record label"`
	Composer    string           `json:"composer,omitempty"`
	TitleLatin  string           `json:"titleLatin,omitempty" doc:"The title in Latin letters, to be found by"`
	ArtistLatin string           `json:"artistLatin,omitempty" doc:"The artist in Latin letters, to be found by"`
	Aliases     []string         `json:"aliases,omitempty" doc:"Other spellings, to be found by"`
	Category    station.Category `json:"category,omitempty"`
	CueInMS     int64            `json:"cueInMs,omitempty" doc:"Where it begins on the air, from the file's beginning"`
	CueOutMS    int64            `json:"cueOutMs,omitempty" doc:"Where it ends on the air, from the file's beginning"`
	CrossMS     int64            `json:"crossMs,omitempty" doc:"How long it overlaps the entries before and after it, less than half of what airs at most"`
	Limits      *Limits          `json:"limits,omitempty"`
	Cover       string           `json:"cover,omitempty" doc:"Id of a picture"`
}

// Limits are a track's own, as an operator writes them.
type Limits struct {
	From        string   `json:"from,omitempty" doc:"The first day, as 2026-12-01"`
	Until       string   `json:"until,omitempty" doc:"The last day"`
	Hours       [][2]int `json:"hours,omitempty" doc:"Hours of the day in which it may begin: from the first up to the second, also over midnight"`
	PerDay      int      `json:"perDay,omitempty" doc:"Times within 24 hours"`
	RestMinutes int      `json:"restMinutes,omitempty" doc:"From one beginning to the next"`
}

const (
	longestText   = 300 // characters
	mostAliases   = 20
	longestCross  = 30 * time.Second
	shortestOnAir = time.Second // of what a cut leaves
	mostPerDay    = 100
	longestRest   = 30 * 24 * time.Hour
)

// errNoPicture says that a cover is none.
func errNoPicture() error {
	return station.Wrong("cover", "is no picture of the library: send the picture with PUT …/cover first", "لا توجد صورة بهذا المعرّف. أرسل الصورة أولًا")
}

// With returns the note with a patch in it (RFC 7396: null takes a field away), and the
// fields that the patch names. A *station.FieldError says what is wrong with the patch.
func (n Note) With(patch json.RawMessage) (out Note, fields []string, err error) {
	var change map[string]any
	if err := json.Unmarshal(patch, &change); err != nil || change == nil {
		return n, nil, station.Wrong("set", "must be an object of fields", "الحقل set يجب أن يكون كائنًا")
	}
	text, err := json.Marshal(n)
	if err != nil {
		return n, nil, err
	}
	var had map[string]any
	if err := json.Unmarshal(text, &had); err != nil {
		return n, nil, err
	}
	for name := range change {
		fields = append(fields, name)
	}
	slices.Sort(fields)
	if text, err = json.Marshal(merge(had, change)); err != nil {
		return n, nil, err
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&out); err != nil {
		return n, nil, fieldOf(err)
	}
	return out.tidied(), fields, out.tidied().check()
}

// merge is RFC 7396 for objects.
func merge(target, patch map[string]any) map[string]any {
	for name, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(target, name)
		case map[string]any:
			below, _ := target[name].(map[string]any)
			if below == nil {
				below = map[string]any{}
			}
			target[name] = merge(below, value)
		default:
			target[name] = value
		}
	}
	return target
}

var unknownField = regexp.MustCompile(`unknown field "([^"]{0,60})"`)

func fieldOf(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return station.Wrong(kind.Field, "must not be a "+kind.Value, "قيمة الحقل "+kind.Field+" من نوع غير صحيح")
	}
	if m := unknownField.FindStringSubmatch(err.Error()); m != nil {
		return station.Wrong(m[1], "is no field of a track", "لا يوجد حقل باسم "+m[1])
	}
	return station.Wrong("set", "cannot be read: "+err.Error(), "تعذّرت قراءة الحقول")
}

// tidied is the note with its texts trimmed and composed, and without what is empty.
func (n Note) tidied() Note {
	for _, text := range n.texts() {
		*text.value = tidy(*text.value)
	}
	if code, ok := station.ISRC(n.ISRC); ok {
		n.ISRC = code
	}
	var aliases []string
	for _, a := range n.Aliases {
		if a = tidy(a); a != "" && !slices.Contains(aliases, a) {
			aliases = append(aliases, a)
		}
	}
	n.Aliases = aliases
	if n.Limits != nil && reflect.DeepEqual(*n.Limits, Limits{Hours: n.Limits.Hours}) && len(n.Limits.Hours) == 0 {
		n.Limits = nil
	}
	return n
}

func tidy(s string) string { return strings.Join(strings.Fields(norm.NFC.String(s)), " ") }

type named struct {
	name  string
	value *string
}

func (n *Note) texts() []named {
	return []named{{"title", &n.Title}, {"artist", &n.Artist}, {"album", &n.Album}, {"genre", &n.Genre}, {"isrc", &n.ISRC}, {"label", &n.Label}, {"composer", &n.Composer}, {"titleLatin", &n.TitleLatin}, {"artistLatin", &n.ArtistLatin}}
}

// check says what is wrong with a note, whatever the track.
func (n Note) check() error {
	for _, text := range n.texts() {
		if err := checkText(text.name, *text.value); err != nil {
			return err
		}
	}
	if _, ok := station.ISRC(n.ISRC); n.ISRC != "" && !ok {
		return station.Wrong("isrc", "must be two letters, three letters or digits, and seven digits, as EG-A01-26-00001", "رمز ISRC حرفان ثم ثلاثة أحرف أو أرقام ثم سبعة أرقام، مثل EG-A01-26-00001")
	}
	if len(n.Aliases) > mostAliases {
		return station.Wrong("aliases", fmt.Sprintf("are %d at most", mostAliases), fmt.Sprintf("الصيغ الأخرى %d على الأكثر", mostAliases))
	}
	for _, a := range n.Aliases {
		if err := checkText("aliases", a); err != nil {
			return err
		}
	}
	if n.Category != "" && (!n.Category.Valid() || n.Category == station.Social) {
		return station.Wrong("category", "must be one of the station's", "التصنيف غير معروف")
	}
	switch cross := ms(n.CrossMS); {
	case n.CueInMS < 0:
		return station.Wrong("cueInMs", "must not be negative", "لا يمكن أن تكون نقطة البداية سالبة")
	case n.CueOutMS < 0:
		return station.Wrong("cueOutMs", "must not be negative", "لا يمكن أن تكون نقطة النهاية سالبة")
	case n.CueOutMS > 0 && ms(n.CueOutMS-n.CueInMS) < shortestOnAir:
		return station.Wrong("cueOutMs", "must be a second after cueInMs at least", "يجب أن تبعد نقطة النهاية عن البداية ثانية على الأقل")
	case cross < 0 || cross > longestCross:
		return station.Wrong("crossMs", fmt.Sprintf("must be 0 to %d", longestCross.Milliseconds()), fmt.Sprintf("مدة التداخل من صفر إلى %.0f ثانية", longestCross.Seconds()))
	}
	if n.Cover != "" && !station.CoverID(n.Cover) {
		return errNoPicture()
	}
	_, err := n.Limits.parse()
	return err
}

func checkText(field, text string) error {
	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return station.Wrong(field, "must be text without control characters", "النص يحتوي على رموز غير مسموح بها")
	case utf8.RuneCountInString(text) > longestText:
		return station.Wrong(field, fmt.Sprintf("has %d characters at most", longestText), fmt.Sprintf("يجب ألا يزيد النص على %d حرف", longestText))
	}
	return nil
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// parse reads limits; nil is none.
func (l *Limits) parse() (out station.Limits, err error) {
	if l == nil {
		return out, nil
	}
	if out.From, err = dateOf("limits.from", l.From); err != nil {
		return out, err
	}
	if out.Until, err = dateOf("limits.until", l.Until); err != nil {
		return out, err
	}
	if out.From != 0 && out.Until != 0 && out.Until < out.From {
		return out, station.Wrong("limits.until", "must not be before limits.from", "آخر يوم قبل أول يوم")
	}
	for _, span := range l.Hours {
		from, to := span[0], span[1]
		if from < 0 || from > 23 || to < 0 || to > 24 || from == to {
			return out, station.Wrong("limits.hours", "must be pairs of hours, from 0 to 24, as [22, 6]", "الساعات أزواج من 0 إلى 24، مثل [22, 6]")
		}
		out.Hours |= 1 << from
		for h := (from + 1) % 24; h != to%24; h = (h + 1) % 24 {
			out.Hours |= 1 << h
		}
	}
	out.PerDay, out.Rest = l.PerDay, time.Duration(l.RestMinutes)*time.Minute
	switch {
	case l.PerDay < 0 || l.PerDay > mostPerDay:
		return out, station.Wrong("limits.perDay", fmt.Sprintf("must be 0 to %d", mostPerDay), fmt.Sprintf("مرات البث في اليوم من صفر إلى %d", mostPerDay))
	case l.RestMinutes < 0 || out.Rest > longestRest:
		return out, station.Wrong("limits.restMinutes", fmt.Sprintf("must be 0 to %.0f", longestRest.Minutes()), fmt.Sprintf("الدقائق بين مرتين من صفر إلى %.0f", longestRest.Minutes()))
	}
	return out, nil
}

func dateOf(field, text string) (station.Date, error) {
	if text == "" {
		return 0, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, station.Wrong(field, "must be a day as 2026-12-01", "اكتب التاريخ على صورة 2026-12-01")
	}
	return station.DateOf(day), nil
}

// over returns the track with the note on it.
func (n Note) over(t station.Track) station.Track {
	for _, field := range []struct{ to, text *string }{{&t.Title, &n.Title}, {&t.Artist, &n.Artist}, {&t.Album, &n.Album}, {&t.Genre, &n.Genre}, {&t.ISRC, &n.ISRC}, {&t.Label, &n.Label}, {&t.Composer, &n.Composer}} {
		if *field.text != "" {
			*field.to = *field.text
		}
	}
	if n.Category != "" {
		t.Category = n.Category
	}
	own := &station.Own{TitleLatin: n.TitleLatin, ArtistLatin: n.ArtistLatin, Aliases: n.Aliases, Cover: n.Cover}
	own.Limits, _ = n.Limits.parse() // it was checked when it was written
	own.Cut = n.cut(t.Duration)      // how long that makes it is known once its copy is made
	t.Own = own
	return t
}

// cut is what of the cut fits a file of a length: one that was replaced by a shorter one
// airs whole rather than not at all.
func (n Note) cut(whole time.Duration) station.Cut {
	c := station.Cut{In: ms(n.CueInMS), Out: ms(n.CueOutMS), Cross: ms(n.CrossMS)}
	if c.Out >= whole {
		c.Out = 0
	}
	end := whole
	if c.Out > 0 {
		end = c.Out
	}
	if end-c.In < shortestOnAir {
		c.In, c.Out = 0, 0
		end = whole
	}
	if c.Cross >= (end-c.In)/2 {
		c.Cross = 0
	}
	return c
}
