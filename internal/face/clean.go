package face

import (
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/kit/plain"
	"github.com/athir-radio/athir/internal/station"
)

// What a face may hold: characters of texts, and bytes of addresses and of the style sheet.
const (
	LongestName    = 40
	LongestTagline = 120
	LongestAbout   = 2000
	LongestLabel   = 40
	LongestAddress = 300
	MostLinks      = 12
	LongestURL     = 500
	LongestEmail   = 254
	LongestCSS     = 64 << 10
)

var (
	colour = regexp.MustCompile(`^#[0-9a-f]{6}$`)
	phone  = regexp.MustCompile(`^\+?[0-9][0-9 ()./-]{2,38}$`)
	mobile = regexp.MustCompile(`^\+?[0-9]{6,18}$`)
)

// clean checks what an operator says, and puts its texts in order. The error names the field.
func (o *Own) clean() error {
	for _, text := range []struct {
		field   string
		both    *Both
		longest int
		line    func(string) string
	}{
		{"name", &o.Name, LongestName, plain.Line},
		{"tagline", &o.Tagline, LongestTagline, plain.Line},
		{"about", &o.About, LongestAbout, lines},
		{"contact.address", &o.Contact.Address, LongestAddress, lines},
	} {
		if err := text.both.clean(text.field, text.longest, text.line); err != nil {
			return err
		}
	}
	if err := cleanLanguages(o.Languages); err != nil {
		return err
	}
	o.Accent = strings.ToLower(strings.TrimSpace(o.Accent))
	if o.Accent != "" && !colour.MatchString(o.Accent) {
		return station.Wrong("accent", "must be a colour as #1f7a5c, or empty", "اكتب اللون بصيغة ‎#1f7a5c أو اتركه فارغًا")
	}
	if err := o.cleanLinks(); err != nil {
		return err
	}
	if err := o.Contact.clean(); err != nil {
		return err
	}
	return checkCSS(o.CSS)
}

func (b *Both) clean(field string, longest int, line func(string) string) error {
	for _, one := range []struct {
		language string
		text     *string
	}{{Arabic, &b.AR}, {English, &b.EN}} {
		*one.text = line(*one.text)
		if utf8.RuneCountInString(*one.text) > longest {
			return station.Wrong(field+"."+one.language, fmt.Sprintf("must have at most %d characters", longest), fmt.Sprintf("النص %d حرفًا على الأكثر", longest))
		}
	}
	return nil
}

// lines is text of several lines, each as plain.Line has it; between paragraphs is one empty line.
func lines(text string) string {
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		line = plain.Line(line)
		if line == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, line)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

func cleanLanguages(all []string) error {
	known := []string{Arabic, English}
	if len(all) == 0 || len(all) > len(known) || len(all) == 2 && all[0] == all[1] ||
		slices.ContainsFunc(all, func(l string) bool { return !slices.Contains(known, l) }) {
		return station.Wrong("languages", "must be ar, en or both, the first one first", "اختر العربية أو الإنجليزية أو كلتيهما")
	}
	return nil
}

func (o *Own) cleanLinks() error {
	if len(o.Links) > MostLinks {
		return station.Wrong("links", fmt.Sprintf("must be at most %d", MostLinks), fmt.Sprintf("الروابط %d على الأكثر", MostLinks))
	}
	o.Links = slices.Clone(o.Links)
	if o.Links == nil {
		o.Links = []Link{}
	}
	for i := range o.Links {
		l, at := &o.Links[i], fmt.Sprintf("links[%d].", i)
		if err := l.Label.clean(at+"label", LongestLabel, plain.Line); err != nil {
			return err
		}
		if l.Label == (Both{}) {
			return station.Wrong(at+"label", "must have a text in one language at least", "اكتب نصًا للرابط")
		}
		if l.URL = strings.TrimSpace(l.URL); !goodLink(l.URL) {
			return station.Wrong(at+"url", fmt.Sprintf("must begin with https://, http://, mailto: or tel:, of %d bytes at most", LongestURL), "يبدأ الرابط بـ https:// أو http:// أو mailto: أو tel:")
		}
	}
	return nil
}

// goodLink reports whether a link leads to a site, a mailbox or a phone, and to nothing that a
// browser would run.
func goodLink(text string) bool {
	if len(text) > LongestURL || strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || r == utf8.RuneError || strings.ContainsRune("\\<>\"`", r) || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
	}) {
		return false
	}
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Hostname() != "" && u.User == nil && u.Opaque == ""
	case "mailto":
		at, err := mail.ParseAddress(u.Opaque)
		return err == nil && at.Address == u.Opaque
	case "tel":
		return phone.MatchString(u.Opaque)
	}
	return false
}

func (c *Contact) clean() error {
	c.Email = strings.TrimSpace(c.Email)
	if c.Email != "" {
		at, err := mail.ParseAddress(c.Email)
		if err != nil || at.Address != c.Email || len(c.Email) > LongestEmail || strings.ContainsAny(c.Email, "?&\"<> ") {
			return station.Wrong("contact.email", "must be an address as studio@radio.example, or empty", "اكتب بريدًا صحيحًا أو اتركه فارغًا")
		}
	}
	c.Phone = western(strings.TrimSpace(c.Phone))
	if c.Phone != "" && !phone.MatchString(c.Phone) {
		return station.Wrong("contact.phone", "must be a number as +966 11 123 4567, or empty", "اكتب رقم الهاتف بالأرقام، مثل ‎+966 11 123 4567")
	}
	c.WhatsApp = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "").Replace(western(strings.TrimSpace(c.WhatsApp)))
	if c.WhatsApp != "" && !mobile.MatchString(c.WhatsApp) {
		return station.Wrong("contact.whatsapp", "must be a number with its country as +966501234567, or empty", "اكتب رقم واتساب مع رمز البلد، مثل ‎+966501234567")
	}
	return nil
}

// western writes the digits of Arabic and Persian as those that a phone dials, and drops what
// only turns them on the screen.
func western(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '٠' && r <= '٩':
			return r - '٠' + '0'
		case r >= '۰' && r <= '۹':
			return r - '۰' + '0'
		case unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text)
}
