package face_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/face"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var settings = face.Defaults{Name: "Athir أثير", Language: face.Arabic}

func open(t *testing.T, path string) (*face.Owner, func()) {
	t.Helper()
	db, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	o, err := face.Open(t.Context(), db, settings)
	if err != nil {
		t.Fatal(err)
	}
	return o, func() { _ = db.Close() }
}

func own() face.Own {
	return face.Own{
		Name: face.Both{AR: "  إذاعة\u202e النيل\n", EN: "Nile Radio"}, Tagline: face.Both{EN: "The river"}, About: face.Both{AR: "سطر\r\n\r\n\r\nآخر\u2066 "},
		Languages: []string{face.English, face.Arabic}, Accent: " #1F7A5C ", Credit: true, CSS: "h1 { color: red }",
		Links:   []face.Link{{Label: face.Both{AR: "الموقع"}, URL: " https://nile.example/?a=b#c "}, {Label: face.Both{EN: "Mail"}, URL: "mailto:a@nile.example"}, {Label: face.Both{EN: "Call"}, URL: "tel:+20-2-123"}},
		Contact: face.Contact{Email: "studio@nile.example", Phone: "+٢٠ ٢ ١٢٣٤", WhatsApp: "+20 (100) 123-4567", Address: face.Both{AR: "القاهرة"}},
	}
}

// What the operator says is on disk when it is set, put in order; of two who edit it the second
// is told.
func TestTheFaceIsKeptAndTheSecondEditorIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "athir.db")
	o, end := open(t, path)
	f := o.Now().Face()
	if f.Version != 0 || f.Title() != settings.Name || f.Name.EN != settings.Name || !f.Credit || f.Logo != "" || len(f.Languages) != 2 || f.Language() != face.Arabic || f.Links == nil {
		t.Errorf("before anything was set: %+v", f)
	}
	if err := o.Set(t.Context(), 0, own()); err != nil {
		t.Fatal(err)
	}
	if err := o.Set(t.Context(), 0, face.Own{Languages: []string{"ar"}}); !errors.Is(err, station.ErrConflict) || !strings.Contains(err.Error(), "version 1") {
		t.Errorf("the second editor: %v", err)
	}
	if err := o.SetPicture(t.Context(), face.Logo, picture(t, 300, 100)); err != nil {
		t.Fatal(err)
	}
	before := o.Now()
	end()
	o, _ = open(t, path)
	if d := cmp.Diff(before, o.Now()); d != "" {
		t.Errorf("after a restart:\n%s", d)
	}
	got := o.Now().Face()
	want := face.Face{
		Version: 2, Name: face.Both{AR: "إذاعة النيل", EN: "Nile Radio"}, Tagline: face.Both{AR: "The river", EN: "The river"}, About: face.Both{AR: "سطر\n\nآخر", EN: "سطر\n\nآخر"},
		Languages: []string{"en", "ar"}, Accent: "#1f7a5c", Logo: "/face/logo.png?v=2", Credit: true,
		Links: []face.Link{
			{Label: face.Both{AR: "الموقع", EN: "الموقع"}, URL: "https://nile.example/?a=b#c"}, {Label: face.Both{AR: "Mail", EN: "Mail"}, URL: "mailto:a@nile.example"}, {Label: face.Both{AR: "Call", EN: "Call"}, URL: "tel:+20-2-123"},
		},
		Contact: face.Contact{Email: "studio@nile.example", Phone: "+20 2 1234", WhatsApp: "+201001234567", Address: face.Both{AR: "القاهرة", EN: "القاهرة"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err := o.RemovePicture(t.Context(), face.Logo); err != nil || o.Now().Face().Logo != "" || o.Now().Version != 3 {
		t.Errorf("without the logo: %v, %+v", err, o.Now().Face())
	}
}

// Every field is refused by its name, and nothing of such a face is kept.
func TestAWrongFaceIsRefusedByItsField(t *testing.T) {
	o, _ := open(t, filepath.Join(t.TempDir(), "athir.db"))
	link := func(url string) func(f *face.Own) {
		return func(f *face.Own) { f.Links = []face.Link{{Label: face.Both{EN: "x"}, URL: url}} }
	}
	for name, c := range map[string]struct {
		field  string
		change func(f *face.Own)
	}{
		"long name":        {"name.en", func(f *face.Own) { f.Name.EN = strings.Repeat("x", face.LongestName+1) }},
		"long tagline":     {"tagline.ar", func(f *face.Own) { f.Tagline.AR = strings.Repeat("ص", face.LongestTagline+1) }},
		"long about":       {"about.ar", func(f *face.Own) { f.About.AR = strings.Repeat("ص", face.LongestAbout+1) }},
		"no language":      {"languages", func(f *face.Own) { f.Languages = nil }},
		"unknown language": {"languages", func(f *face.Own) { f.Languages = []string{"ar", "fr"} }},
		"one twice":        {"languages", func(f *face.Own) { f.Languages = []string{"ar", "ar"} }},
		"no colour":        {"accent", func(f *face.Own) { f.Accent = "red;}body{display:none" }},
		"short colour":     {"accent", func(f *face.Own) { f.Accent = "#fff" }},
		"13 links":         {"links", func(f *face.Own) { f.Links = make([]face.Link, 13) }},
		"no label":         {"links[0].label", func(f *face.Own) { f.Links = []face.Link{{URL: "https://a.example"}} }},
		"script":           {"links[0].url", link("javascript:alert(1)")},
		"script in caps":   {"links[0].url", link("JaVaScRiPt:alert(1)")},
		"script in spaces": {"links[0].url", link("java\tscript:alert(1)")},
		"data":             {"links[0].url", link("data:text/html,x")},
		"relative":         {"links[0].url", link("//evil.example")},
		"no host":          {"links[0].url", link("https:///x")},
		"password":         {"links[0].url", link("https://a:b@evil.example")},
		"backslash":        {"links[0].url", link(`https:\\evil.example`)},
		"turned":           {"links[0].url", link("https://a.example/\u202etxt")},
		"headers":          {"links[0].url", link("mailto:a@b.example,c@d.example")},
		"letters":          {"links[0].url", link("tel:abc")},
		"long url":         {"links[0].url", link("https://a.example/" + strings.Repeat("x", face.LongestURL))},
		"no mailbox":       {"contact.email", func(f *face.Own) { f.Contact.Email = "studio" }},
		"named mailbox":    {"contact.email", func(f *face.Own) { f.Contact.Email = "A <a@b.example>" }},
		"headers in it":    {"contact.email", func(f *face.Own) { f.Contact.Email = "a@b.example?bcc=c@d.example" }},
		"phone":            {"contact.phone", func(f *face.Own) { f.Contact.Phone = "call us" }},
		"whatsapp":         {"contact.whatsapp", func(f *face.Own) { f.Contact.WhatsApp = "https://wa.me/1" }},
		"long address":     {"contact.address.ar", func(f *face.Own) { f.Contact.Address.AR = strings.Repeat("ص", face.LongestAddress+1) }},
		"long css":         {"css", func(f *face.Own) { f.CSS = strings.Repeat(" ", face.LongestCSS+1) }},
		"import":           {"css", func(f *face.Own) { f.CSS = `@import "x.css";` }},
	} {
		f := own()
		c.change(&f)
		err := o.Set(t.Context(), 0, f)
		var wrong *station.FieldError
		if !errors.As(err, &wrong) || wrong.Field != c.field || wrong.Arabic == "" {
			t.Errorf("%s: %v, want %s", name, err, c.field)
		}
	}
	if o.Now().Version != 0 {
		t.Error("something was kept")
	}
}

// A style sheet loads nothing from elsewhere, however that is written.
func TestAStyleSheetLoadsNothingFromElsewhere(t *testing.T) {
	o, _ := open(t, filepath.Join(t.TempDir(), "athir.db"))
	set := func(css string) error {
		f := own()
		f.CSS = css
		return o.Set(t.Context(), o.Now().Version, f)
	}
	for _, css := range []string{
		"", "h1 { color: #fff; background: url(/face/logo.png) }", `a::before { content: "\201C" } b { background: url( "data:image/png;base64,AA==" ) }`,
		`/* @import url(https://evil.example) */ p::after { content: "@import url(https://evil.example)" }`, "@media (min-width: 40rem) { .x { --y: 1 } }",
		`.a\:b { color: red }`, "b { clip-path: url(#shape) }", "@font-face { font-family: x; src: local(x) }", "a { content: 'it\\'s' } /* not closed",
		"b{background:url(data:image/svg+xml,%3Csvg/%3E)}", ".url { color: red }",
	} {
		if err := set(css); err != nil {
			t.Errorf("%q: %v", css, err)
		}
	}
	for _, css := range []string{
		"@import 'x';", "@IMPORT url(x);", `@\69mport 'x';`, `@\000069 mport 'x';`, "@imp\\ort 'x';", "@\\i\u006dport 'x';",
		"b{background:url(https://evil.example/x)}", "b{background:url(//evil.example)}", `b{background:url("https://evil.example")}`, "b{background:URL( 'x.png' )}",
		`b{background:\75 rl(https://evil.example)}`, `b{background:u\72l(x)}`, "b{background:url(/face/../api)}", `b{background:url(/face/..\2f api)}`, "b{background:url(/face//evil)}",
		"b{background:url(/face/%2e%2e/x)}", `b{background:url(\68ttps://evil.example)}`, "b{background:url(data:text/html,x)}", "b{background:image-set('x.png' 1x)}",
		"b{background:-webkit-image-set('x' 1x)}", "b{background:src('x')}", "b{background:image('x')}", "b{background:url(", "b{background:url(/x", "/**/b{background:url(x)}",
		"a{content:'x\n} b{background:url(x)}", "b{background:url(\"x\\\ny\")}", "b{--x:url(https://evil.example)}", "\"\\\"\"b{background:url(x)}", "b{background:url(/face/x\x00)}", "\xff", "b{background:url(#)}",
	} {
		if err := set(css); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%q was taken: %v", css, err)
		}
	}
}

// FuzzCSS: no sheet makes the check hang or fail, and one that names another place in plain words
// is not taken.
func FuzzCSS(f *testing.F) {
	for _, seed := range []string{"@import 'x'", `b{background:\75 rl("x")}`, "/*", "'\\", "url(\\", "\\", "a(b)c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, css string) {
		if face.CheckCSS(css) == nil && face.CheckCSS(css+"\n\n*/\"'*/\n)}b{background:url(https://evil.example)}") == nil {
			// Only where the end of it is within a comment or a name.
			if !strings.Contains(css, "/*") && !strings.Contains(css, "\\") && !strings.Contains(css, "url") {
				t.Errorf("%q hides an address", css)
			}
		}
	})
}

var variable = regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`)

// Text of the colour, and text on it, can be read on every ground by day and by night, whatever
// the colour is: 4.5 by WCAG 2.2, measured here by the standard's formula anew.
func TestEveryColourCanBeRead(t *testing.T) {
	grounds := [2][]string{{"#e9efec", "#f6f9f7", "#dde6e2"}, {"#0b1618", "#112124", "#081012"}}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		accent := fmt.Sprintf("#%06x", rng.Uint32N(1<<24))
		if i < 512 { // the corners, and what lies near them
			accent = fmt.Sprintf("#%02x%02x%02x", i&7*36, i>>3&7*36, i>>6*36)
		}
		sheet := face.Theme(accent)
		day, night, found := strings.Cut(sheet, "@media (prefers-color-scheme: dark)")
		if !found {
			t.Fatalf("%s: %s", accent, sheet)
		}
		for n, part := range []string{day, night} {
			of := map[string]string{}
			for _, m := range variable.FindAllStringSubmatch(part, -1) {
				of[m[1]] = m[2]
			}
			if got := measured(t, of["signal"], of["on-signal"]); got < 4.5 {
				t.Fatalf("%s: text on it has %.2f: %v", accent, got, of)
			}
			for _, ground := range grounds[n] {
				if got := measured(t, of["signal-ink"], ground); got < 4.5 {
					t.Fatalf("%s: text of it on %s has %.2f: %v", accent, ground, got, of)
				}
				if got := measured(t, of["signal"], ground); got < 1.4 {
					t.Fatalf("%s: a button of it on %s has %.2f: %v", accent, ground, got, of)
				}
			}
		}
	}
	for _, none := range []string{"", "red", "#fff", "#12345g"} {
		if got := face.Theme(none); got != "" {
			t.Errorf("%q: %s", none, got)
		}
	}
	if got := face.Theme("#1f7a5c"); !strings.Contains(got, "--signal: #1f7a5c;") {
		t.Errorf("a colour that needs no change was changed: %s", got)
	}
}

func measured(t *testing.T, a, b string) float64 {
	t.Helper()
	light := func(hex string) float64 {
		n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
		if err != nil {
			t.Fatalf("%q: %v", hex, err)
		}
		sum := 0.0
		for i, weight := range []float64{0.0722, 0.7152, 0.2126} {
			v := float64(n>>(8*i)&0xff) / 255
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			sum += weight * v
		}
		return sum
	}
	x, y := light(a), light(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// picture is half transparent, half red.
func picture(t *testing.T, wide, high int) []byte {
	t.Helper()
	p := image.NewNRGBA(image.Rect(0, 0, wide, high))
	for y := range high {
		for x := range wide / 2 {
			p.Set(x, y, color.NRGBA{200, 0, 0, 255})
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A picture is made anew in the bounds of its place; what is transparent stays so.
func TestPicturesAreMadeAnew(t *testing.T) {
	o, _ := open(t, filepath.Join(t.TempDir(), "athir.db"))
	for _, c := range []struct {
		kind             face.Kind
		wide, high, w, h int
	}{{face.Logo, 300, 100, 300, 100}, {face.Logo, 2048, 512, 1024, 256}, {face.Logo, 400, 1200, 170, 512}, {face.Icon, 600, 300, 512, 512}, {face.Icon, 64, 64, 512, 512}} {
		if err := o.SetPicture(t.Context(), c.kind, picture(t, c.wide, c.high)); err != nil {
			t.Fatal(err)
		}
		kept := o.Now().Logo
		if c.kind == face.Icon {
			kept = o.Now().Icon
		}
		p, err := png.Decode(bytes.NewReader(kept))
		if err != nil || p.Bounds().Dx() != c.w || p.Bounds().Dy() != c.h {
			t.Fatalf("%+v: %v %v", c, p.Bounds(), err)
		}
		_, _, _, left := p.At(c.w/8, c.h/2).RGBA()
		_, _, _, right := p.At(c.w-c.w/8, c.h/2).RGBA()
		if left != 0xffff || right != 0 {
			t.Errorf("%+v: alpha %x and %x", c, left, right)
		}
	}
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 400, 200)), nil); err != nil {
		t.Fatal(err)
	}
	// A phone's, on its side (Exif orientation 6), and with a place that must not be served.
	exif := "\xff\xe1\x00\x3cExif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00 30.0444N 31.2357E 30.0444N"
	turned := []byte("\xff\xd8" + exif + photo.String()[2:])
	turned[5] = byte(len(exif) - 2)
	if err := o.SetPicture(t.Context(), face.Logo, turned); err != nil {
		t.Fatal(err)
	}
	if p, err := png.DecodeConfig(bytes.NewReader(o.Now().Logo)); err != nil || p.Width != 200 || p.Height != 400 || bytes.Contains(o.Now().Logo, []byte("30.0444")) {
		t.Errorf("a phone's picture: %d × %d, %v", p.Width, p.Height, err)
	}

	huge := picture(t, 32, 32)
	copy(huge[16:], "\x00\x00\xff\xff\x00\x00\xff\xff") // its header says 65535 × 65535
	svg := []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)
	version := o.Now().Version
	for name, c := range map[string]struct {
		data []byte
		kind error
	}{
		"nothing": {nil, station.ErrInvalid}, "text": {[]byte("hello"), station.ErrInvalid}, "svg": {svg, station.ErrInvalid}, "a bomb": {huge, station.ErrInvalid},
		"cut off": {picture(t, 300, 300)[:200], station.ErrInvalid}, "small": {picture(t, 8, 8), station.ErrInvalid}, "too large": {make([]byte, face.MostBytes+1), station.ErrTooLarge},
	} {
		for _, kind := range []face.Kind{face.Logo, face.Icon} {
			if err := o.SetPicture(t.Context(), kind, c.data); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), string(kind)) {
				t.Errorf("%s as %s: %v", name, kind, err)
			}
		}
	}
	if o.Now().Version != version {
		t.Error("something was kept")
	}
}

// Pages read the face as web/src/station/face.ts has it: the members and their order are a
// contract.
func TestTheFaceIsWrittenAsPagesReadIt(t *testing.T) {
	o, _ := open(t, filepath.Join(t.TempDir(), "athir.db"))
	got, err := json.Marshal(o.Now().Face())
	want := `{"version":0,"name":{"ar":"Athir أثير","en":"Athir أثير"},"tagline":{"ar":"","en":""},"about":{"ar":"","en":""},"languages":["ar","en"],"accent":"","links":[],` +
		`"contact":{"email":"","phone":"","whatsapp":"","address":{"ar":"","en":""}},"logo":"","credit":true}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\n%s", err, got, want)
	}
}
