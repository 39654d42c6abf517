package podcast

import (
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/station"
)

// Bounds of what is kept.
const (
	MostShows    = 50
	MostEpisodes = 2000 // of a show; beyond them the oldest go, as Keep has it
	MostChapters = 500  // of an episode

	mostTitle     = 200  // characters, as of names
	mostText      = 4000 // characters of a description; Apple's bound
	mostSlug      = 64
	mostSaid      = 64 << 10 // bytes of what is said word by word
	mostNamed     = 50       // streams or types
	mostDays      = 3650
	mostMegabytes = 10_000_000
	mostShortest  = 24 * 60 * 60
)

var (
	slugForm     = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	languageForm = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`)
	emailForm    = regexp.MustCompile(`^[^\s@<>"]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?\.[A-Za-z]{2,24}$`)
)

// clean puts what an operator says into order. The error is of kind station.ErrInvalid and names
// the field.
func (o *Own) clean() error {
	o.Categories, o.From.Streams, o.From.Types = slices.Clone(o.Categories), slices.Clone(o.From.Streams), slices.Clone(o.From.Types)
	o.Slug = strings.TrimSpace(o.Slug)
	if !slugForm.MatchString(o.Slug) || len(o.Slug) > mostSlug {
		return station.Wrong("slug", fmt.Sprintf("must have a–z, 0–9 and single hyphens between them, %d characters at most, as morning-show", mostSlug),
			fmt.Sprintf("اكتب العنوان المختصر بحروف إنجليزية صغيرة وأرقام تفصل بينها شرطة واحدة، %d حرفًا على الأكثر، مثل morning-show", mostSlug))
	}
	o.Title, o.Author, o.Copyright = oneLine(o.Title), oneLine(o.Author), oneLine(o.Copyright)
	o.Description = lines(o.Description)
	if o.Title == "" {
		return station.Wrong("title", "must not be empty: say what the show is called", "اكتب اسم البرنامج")
	}
	for _, f := range []struct {
		name, arabic, text string
		most               int
	}{
		{"title", "اسم البرنامج", o.Title, mostTitle},
		{"description", "الوصف", o.Description, mostText},
		{"author", "اسم المُعِدّ", o.Author, mostTitle},
		{"copyright", "سطر الحقوق", o.Copyright, mostTitle},
	} {
		if n := utf8.RuneCountInString(f.text); n > f.most {
			return tooLong(f.name, f.arabic, n, f.most)
		}
	}
	if o.Language = language(o.Language); !languageForm.MatchString(o.Language) {
		return station.Wrong("language", "must be a language code, as ar, en or ar-EG", "اكتب رمز اللغة، مثل ar أو en أو ar-EG")
	}
	if o.Email = strings.TrimSpace(o.Email); o.Email != "" {
		if a, err := mail.ParseAddress(o.Email); err != nil || a.Address != o.Email || !emailForm.MatchString(o.Email) || len(o.Email) > 254 {
			return station.Wrong("email", "must be one address and nothing else, as radio@example.org, or empty", "اكتب عنوان بريد واحدًا فقط، مثل radio@example.org، أو اتركه فارغًا")
		}
	}
	if err := o.cleanCategories(); err != nil {
		return err
	}
	if err := o.From.clean(); err != nil {
		return err
	}
	return o.Keep.check()
}

func (o *Own) cleanCategories() error {
	for i, c := range o.Categories {
		if o.Categories[i] = oneLine(c); !slices.Contains(Categories(), o.Categories[i]) {
			return station.Wrong(fmt.Sprintf("categories[%d]", i), fmt.Sprintf("%q is none of Apple's: choose from the list", clip(c, 60)), "اختر التصنيف من القائمة")
		}
	}
	seen := map[string]bool{} // the first is the one that directories sort by: the order stays
	o.Categories = slices.DeleteFunc(o.Categories, func(c string) bool {
		twice := seen[c]
		seen[c] = true
		return twice
	})
	if n := len(o.Categories); n < 1 || n > 3 {
		return station.Wrong("categories", fmt.Sprintf("must be one to three, not %d: directories sort shows by them", n), "اختر تصنيفًا واحدًا إلى ثلاثة تصنيفات")
	}
	return nil
}

func (f *From) clean() error {
	if !slices.Contains(Kinds(), f.Kind) {
		return station.Wrong("from.kind", "must be live, bulletins, posts or library", "اختر مصدر الحلقات: البث المباشر أو النشرات أو المشاركات أو المكتبة")
	}
	for _, list := range []struct {
		name string
		of   *[]string
	}{{"from.streams", &f.Streams}, {"from.types", &f.Types}} {
		for i, v := range *list.of {
			if (*list.of)[i] = oneLine(v); (*list.of)[i] == "" || len(v) > 100 {
				return station.Wrong(fmt.Sprintf("%s[%d]", list.name, i), "must have 1 to 100 characters", "في القائمة اسم فارغ أو أطول من 100 حرف")
			}
		}
		slices.Sort(*list.of)
		if *list.of = slices.Compact(*list.of); len(*list.of) > mostNamed {
			return station.Wrong(list.name, fmt.Sprintf("must be %d at most", mostNamed), fmt.Sprintf("القائمة طويلة: %d على الأكثر", mostNamed))
		}
		if *list.of == nil {
			*list.of = []string{}
		}
	}
	if f.Shortest < 0 || f.Shortest > mostShortest {
		return station.Wrong("from.shortest", fmt.Sprintf("must be 0 to %d seconds", mostShortest), fmt.Sprintf("اكتب أقصر مدة بالثواني، من 0 إلى %d", mostShortest))
	}
	return nil
}

func (k Keep) check() error {
	for _, f := range []struct {
		name    string
		n, most int
	}{{"keep.episodes", k.Episodes, MostEpisodes}, {"keep.days", k.Days, mostDays}, {"keep.megabytes", k.Megabytes, mostMegabytes}} {
		if f.n < 0 || f.n > f.most {
			return station.Wrong(f.name, fmt.Sprintf("must be 1 to %d, or 0 for no bound", f.most), fmt.Sprintf("اكتب رقمًا من 1 إلى %d، أو 0 بلا حد", f.most))
		}
	}
	return nil
}

func tooLong(field, arabic string, has, most int) error {
	return station.Wrong(field, fmt.Sprintf("has %d characters, %d are the most: make it shorter", has, most), fmt.Sprintf("%s طويل: %d حرفًا على الأكثر", arabic, most))
}

// language writes the code of a language as RFC 5646 likes it, in its first part.
func language(code string) string {
	first, rest, more := strings.Cut(strings.TrimSpace(code), "-")
	if first = strings.ToLower(first); more {
		return first + "-" + rest
	}
	return first
}

// oneLine is a text without what no line may have.
func oneLine(text string) string {
	return strings.Join(strings.Fields(plain(text)), " ")
}

// lines is a text of several lines, without control characters.
func lines(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	parts := strings.Split(text, "\n")
	for i, p := range parts {
		parts[i] = strings.TrimRightFunc(plain(p), unicode.IsSpace)
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}

// plain is a text without what XML cannot hold: control characters, what is no character, and
// bytes that are no text. A tab or line break becomes a space.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r), r == utf8.RuneError, r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef:
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// clip is the beginning of a text, of so many characters at most.
func clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:most-1])) + "…"
}

// clipBytes is the beginning of a text, of so many bytes at most, up to a whole line or character.
func clipBytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most]
	if at := strings.LastIndexByte(text, '\n'); at > most/2 {
		return text[:at]
	}
	return strings.ToValidUTF8(text, "")
}
