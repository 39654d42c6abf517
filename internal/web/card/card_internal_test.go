package card

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/kit/contrast"
)

func drawer(t testing.TB) *Drawer {
	t.Helper()
	d, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func drawn(t testing.TB, d *Drawer, c Card) *image.RGBA {
	t.Helper()
	data, err := d.Draw(c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if p.Bounds() != image.Rect(0, 0, Width, Height) || len(data) > MostBytes {
		t.Fatalf("%v in %d bytes", p.Bounds(), len(data))
	}
	out := image.NewRGBA(p.Bounds())
	draw.Draw(out, out.Bounds(), p, image.Point{}, draw.Src)
	return out
}

func textBox(rtl bool) image.Rectangle {
	left := margin + coverSide + gap
	if rtl {
		left = margin
	}
	return image.Rect(left, 0, left+column, Height).Inset(-10)
}

// differ is the least rectangle that holds all in which two pictures differ.
func differ(a, b *image.RGBA) (box image.Rectangle) {
	for y := range Height {
		if line := y * a.Stride; bytes.Equal(a.Pix[line:line+a.Stride], b.Pix[line:line+a.Stride]) {
			continue
		}
		for x := range Width {
			if a.RGBAAt(x, y) != b.RGBAAt(x, y) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

func grey(side int) image.Image {
	p := image.NewRGBA(image.Rect(0, 0, side, side))
	draw.Draw(p, p.Bounds(), image.NewUniform(color.RGBA{90, 90, 90, 255}), image.Point{}, draw.Src)
	return p
}

func TestACardIsMirroredForArabic(t *testing.T) {
	d := drawer(t)
	for _, rtl := range []bool{false, true} {
		red := image.NewUniform(color.RGBA{200, 20, 20, 255})
		cover := image.NewRGBA(image.Rect(0, 0, 300, 500))
		draw.Draw(cover, cover.Bounds(), red, image.Point{}, draw.Src)
		blank := drawn(t, d, Card{Cover: cover, RTL: rtl})
		x := margin + coverSide/2
		if rtl {
			x = Width - x
		}
		if got := blank.RGBAAt(x, Height/2); got != red.C {
			t.Errorf("RTL %v: no cover at %d: %v", rtl, x, got)
		}
		said := drawn(t, d, Card{Cover: cover, RTL: rtl, Station: "أثير", Title: "سماء", Artist: "Sara", Line: "على الهواء", Logo: grey(60)})
		box := differ(blank, said)
		if box.Empty() || !box.In(textBox(rtl)) {
			t.Errorf("RTL %v: the texts are in %v", rtl, box)
		}
		// Lines begin at the side that reading starts at.
		if start := textBox(rtl).Inset(10); rtl && box.Max.X < start.Max.X-4 || !rtl && box.Min.X > start.Min.X+4 {
			t.Errorf("RTL %v: the texts begin at %v", rtl, box)
		}
	}
}

// Letters of Arabic join, and stand from right to left; Latin and figures within do not.
func TestArabicIsShaped(t *testing.T) {
	s := scribe{title: mustFaces(t, "reem-kufi"), text: mustFaces(t, "readex-pro")}
	for _, fonts := range []faces{s.title, s.text} {
		word := []rune("بيت")
		r := s.shape(word, fonts, 40, true)
		var apart float64
		for _, letter := range word {
			apart += s.shape([]rune{letter}, fonts, 40, true).width
			gid, _ := fonts.of(letter, nil).NominalGlyph(letter)
			for _, part := range r.runs {
				for _, g := range part.Glyphs {
					if g.GlyphID == gid {
						t.Errorf("%c stands as if it were alone", letter)
					}
				}
			}
		}
		if r.width >= apart {
			t.Errorf("joined it is %v wide, apart %v", r.width, apart)
		}
	}
	for _, c := range []struct {
		text, want string
		rtl        bool
	}{
		{"بحر abc 12 نهر", "رهن abc 12 رحب", true},
		{"abc بحر نهر def", "abc رهن رحب def", false},
		{"بحر ١٢ نهر", "رهن ١٢ رحب", true},
		{"بحر (نهر)", "(رهن) رحب", true}, // brackets turn
	} {
		text := clean(c.text, s.text)
		var got []rune
		for _, part := range s.shape(text, s.text, 40, c.rtl).runs {
			for _, g := range part.Glyphs {
				got = append(got, text[g.TextIndex()])
			}
		}
		want := c.want
		if strings.Contains(want, "(") {
			want = strings.NewReplacer("(", ")", ")", "(").Replace(want) // logically, before they turn
		}
		if string(got) != want {
			t.Errorf("%s is seen as %q, want %q", c.text, string(got), want)
		}
	}
}

func mustFaces(t testing.TB, name string) faces {
	t.Helper()
	f, err := readFamily(name)
	if err != nil {
		t.Fatal(err)
	}
	return f.faces()
}

func TestWhatNoFontHasIsLeftOut(t *testing.T) {
	fonts := mustFaces(t, "readex-pro")
	for text, want := range map[string]string{
		"":                                   "",
		" \t\n":                              "",
		"🎵🔥":                                 "",
		"فيروز 🎵🔥 live":                      "فيروز live",
		"👨‍👩‍👧 x":                            "x",
		"Москва 東京":                          "",
		"a\x00b\x1b[31m\u202eevil\u202c":     "ab[31mevil",
		"\xff\xfea":                          "a",
		"Dvořák Šárka":                       "Dvořák Šárka",
		"Dvor\u030cak":                       "Dvořak",
		"ﻓﻴﺮﻭﺯ":                              "فيروز",
		"Ｗｉｄｅ":                               "Wide",
		"e" + strings.Repeat("\u064b", 2000): "e" + strings.Repeat("\u064b", mostMarks),
	} {
		if got := string(clean(text, fonts)); got != want {
			t.Errorf("%q is drawn as %q, want %q", text, got, want)
		}
	}
	s := scribe{text: fonts}
	for _, part := range s.shape(clean("ه\u200d 🎵 سلام\u200f! ﷺ №5 “x”", fonts), fonts, 40, true).runs {
		for _, g := range part.Glyphs {
			if g.GlyphID == 0 {
				t.Error("a box is drawn")
			}
		}
	}
}

func titleSettings() []setting { return []setting{{92, 1}, {74, 2}, {58, 3}, {46, 3}} }

func TestLongTextsAreSetSmallerAndShortened(t *testing.T) {
	s := scribe{title: mustFaces(t, "reem-kufi")}
	for _, c := range []struct {
		text  string
		lines int
		size  float64
		short bool
	}{
		{"سماء", 1, 92, false},
		{"الأطلال الحفلة الكاملة", 2, 74, false},
		{"ألف ليلة وليلة، الحفلة الكاملة من سينما قصر النيل تسجيل نادر", 3, 58, false},
		{strings.Repeat("كلام طويل ", 4000), 3, 46, true},
		{strings.Repeat("W", 100_000), 3, 46, true},
		{strings.Repeat("ك", 16), 2, 46, false},
	} {
		b := s.fit(clean(c.text, s.title), s.title, column, false, titleSettings())
		if len(b.rows) != c.lines || b.size != c.size {
			t.Errorf("%.40s: %d lines of %v", c.text, len(b.rows), b.size)
		}
		for _, r := range b.rows {
			if r.width <= 0 || r.width > column+0.5 {
				t.Errorf("%.40s: a line of %v", c.text, r.width)
			}
		}
		dots := 0
		gid, _ := s.title.of(ellipsis, nil).NominalGlyph(ellipsis)
		for _, part := range b.rows[len(b.rows)-1].runs {
			for _, g := range part.Glyphs {
				if g.GlyphID == gid && part.Face == s.title.of(ellipsis, nil) {
					dots++
				}
			}
		}
		if (dots == 1) != c.short {
			t.Errorf("%.40s: %d ellipses", c.text, dots)
		}
	}
	if n := len(clean(strings.Repeat("ﷺ", 1<<20), s.title)); n > mostLetters+20 {
		t.Errorf("%d letters are looked at", n)
	}
}

// The card of a song shows what its page shows: both are held to the same file, the page by
// web/src/look/cover.test.ts.
func TestTheDrawnCoverIsThatOfThePage(t *testing.T) {
	text, err := os.ReadFile("testdata/covers.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]string
	if err := json.Unmarshal(text, &want); err != nil || len(want) < 30 {
		t.Fatal(err, len(want))
	}
	for name, sum := range want {
		c := coverOf(name)
		css := func(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
		var svg strings.Builder
		fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100" viewBox="0 0 100 100"><path d="M0 0h100v100H0z" fill="%s"/>`, css(c.ground))
		for _, s := range c.shapes {
			fmt.Fprintf(&svg, `<path d="%s" fill="%s" opacity="%s"/>`, s.path, css(s.fill), strconv.FormatFloat(s.opacity, 'f', -1, 64))
		}
		svg.WriteString("</svg>")
		got := sha256.Sum256([]byte(svg.String()))
		if hex.EncodeToString(got[:]) != sum {
			t.Errorf("%s differs: %s", name, svg.String())
		}
	}
}

// Round shapes are round: an arc that bends the wrong way fills as much, elsewhere.
func TestArcsBendAsInSVG(t *testing.T) {
	var p pen
	out := p.paintCover(200, drawnCover{ground: color.RGBA{A: 255}, shapes: []shape{{ring(50, 50, 40, 20), color.RGBA{255, 255, 255, 255}, 1}}})
	for y := range 200 {
		for x := range 200 {
			dx, dy := float64(x)+0.5-100, float64(y)+0.5-100
			r := dx*dx + dy*dy
			lit := out.RGBAAt(x, y).R > 128
			if inside := r > 42*42 && r < 78*78; inside && !lit {
				t.Fatalf("%d %d is not lit", x, y)
			}
			if outside := r < 38*38 || r > 82*82; outside && lit {
				t.Fatalf("%d %d is lit", x, y)
			}
		}
	}
}

func TestTheAccentIsSeen(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		cover := image.NewRGBA(image.Rect(0, 0, coverSide, coverSide))
		shade := color.RGBA{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), 255}
		draw.Draw(cover, image.Rect(0, 0, coverSide, 40), image.NewUniform(shade), image.Point{}, draw.Src)
		for _, given := range []bool{true, false} {
			ground := groundOf(given, cover, coverOf(fmt.Sprint(r.Uint64())))
			accent := legible(color.RGBA{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), 255}, ground)
			top := mix(ground, color.RGBA{255, 255, 255, 255}, lighter)
			if contrast.Of(accent, top) < 4.5 || contrast.Of(inkColour(), top) < 7 {
				t.Fatalf("%v on %v", accent, top)
			}
		}
	}
	if got := legible(color.RGBA{}, color.RGBA{A: 255}); got != rgb(0xffb84d) {
		t.Errorf("without one it is %v", got)
	}
}

func noise(side int) image.Image {
	r := rand.New(rand.NewPCG(3, 4))
	p := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range p.Pix {
		p.Pix[i] = uint8(r.Uint32()) | uint8(255*(i%4/3)) //nolint:gosec // chance
	}
	return p
}

func TestACoverOfNoiseStaysSmall(t *testing.T) {
	drawn(t, drawer(t), Card{Title: "x", Cover: noise(640)}) // which checks the size
}

func TestCardsAreDrawnSideBySide(t *testing.T) {
	d := drawer(t)
	cards := make([]Card, 6)
	want := make([][]byte, len(cards))
	for i := range cards {
		cards[i] = Card{Station: "أثير", Title: fmt.Sprint("أغنية ", i), Artist: "Sara", RTL: i%2 == 0}
		var err error
		if want[i], err = d.Draw(cards[i]); err != nil {
			t.Fatal(err)
		}
	}
	var group sync.WaitGroup
	for i := range cards {
		group.Go(func() {
			if got, err := d.Draw(cards[i]); err != nil || !bytes.Equal(got, want[i]) {
				t.Errorf("card %d differs, %v", i, err)
			}
		})
	}
	group.Wait()
}

// Whatever a file's tags say: a card is drawn, and letters stay in their column.
func FuzzDraw(f *testing.F) {
	for _, text := range []string{"", "سماء", "Night Drive (٢٠٢٦) 🎵", "\u202e\u2067abc\u200f", strings.Repeat("ﷺ", 90), strings.Repeat("W", 400),
		"a" + strings.Repeat("\u0651\u064e", 40), "\xff\xfe\x00", "( [ { بحر ) ] }", "\u200d\u200d\u200c", "Ǆ ﬁ ½", "कि าำ 한 ﷽"} {
		f.Add(text, "أم كلثوم", "على الهواء", "أثير", true)
		f.Add("x", text, text, text, false)
	}
	d, fonts := drawer(f), mustFaces(f, "readex-pro")
	cover := grey(80)
	blanks := map[bool]*image.RGBA{false: drawn(f, d, Card{Cover: cover}), true: drawn(f, d, Card{Cover: cover, RTL: true})}
	f.Fuzz(func(t *testing.T, title, artist, line, station string, rtl bool) {
		desk := <-d.desks
		defer func() { d.desks <- desk }()
		desk.draw(Card{Title: title, Artist: artist, Line: line, Station: station, Cover: cover, RTL: rtl}, 1)
		if box := differ(blanks[rtl], desk.canvas); !box.In(textBox(rtl)) {
			t.Fatalf("it draws in %v", box)
		}
		for _, text := range []string{title, artist, line, station} {
			if c := clean(text, fonts); len(c) > mostLetters+20 || !utf8.ValidString(string(c)) {
				t.Errorf("%q is cleaned to %q", text, string(c))
			}
		}
	})
}

func BenchmarkDraw(b *testing.B) {
	d := drawer(b)
	for name, c := range map[string]Card{
		"drawn": {Station: "إذاعة القاهرة", Title: "ألف ليلة وليلة من سينما قصر النيل", Artist: "أم كلثوم", Line: "على الهواء", RTL: true},
		"given": {Station: "Athir", Title: "Night Drive", Artist: "The Lights", Line: "On the air", Cover: noise(640)},
	} {
		b.Run(name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				data, err := d.Draw(c)
				if err != nil {
					b.Fatal(err)
				}
				size = len(data)
			}
			b.ReportMetric(float64(size), "bytes/card")
		})
	}
}
