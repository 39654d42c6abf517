package card

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-text/typesetting/bidi"
	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/segmenter"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"
)

const (
	// mostLetters bounds what is looked at of a text: no card shows so many.
	mostLetters = 300
	// mostMarks bounds the marks on one letter: more only climb out of their line.
	mostMarks = 3
	// measured is the size at which texts are measured; widths go with it.
	measured = 256
	ellipsis = '…'
	zwnj     = '\u200c'
	zwj      = '\u200d'
	lrm      = '\u200e'
	rlm      = '\u200f'
	alm      = '\u061c'
)

// scribe shapes texts. It is used by one goroutine at a time.
type scribe struct {
	title, text faces
	shaper      shaping.HarfbuzzShaper
	order       bidi.Paragraph
	breaks      segmenter.Segmenter
}

// clean is what of a text can be drawn: one line, without letters that no font has (emoji,
// most scripts), without marks in heaps, and without the controls that turn what follows.
func clean(text string, fonts faces) []rune {
	var out []rune
	last, marks := rune(0), 0 // as it was written, drawn or not
	keep := func(r rune) {
		if unicode.Is(unicode.Mn, r) {
			if marks++; marks > mostMarks || len(out) == 0 || out[len(out)-1] == ' ' {
				return
			}
		} else {
			marks = 0
		}
		out = append(out, r)
	}
	for _, r := range norm.NFC.String(strings.ToValidUTF8(cut(text), "")) {
		before := last
		last = r
		switch {
		case unicode.IsSpace(r):
			if len(out) > 0 && out[len(out)-1] != ' ' {
				keep(' ')
			}
		case r == zwj || r == zwnj:
			if len(out) > 0 && out[len(out)-1] == before && language.LookupScript(before) == language.Arabic {
				keep(r)
			}
		case r == lrm || r == rlm || r == alm:
			keep(map[rune]rune{lrm: lrm, rlm: rlm, alm: rlm}[r])
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r):
		case fonts.of(r, nil) != nil:
			keep(r)
		default:
			// A letter that stands for others: those of old encodings of Arabic, ﷺ, wide Latin.
			for _, part := range norm.NFKC.String(string(r)) {
				if part == ' ' && (len(out) == 0 || out[len(out)-1] == ' ') {
					continue
				}
				if part != r && !unicode.IsControl(part) && fonts.of(part, nil) != nil {
					keep(part)
				}
			}
		}
		if len(out) >= mostLetters {
			break
		}
	}
	for len(out) > 0 && out[len(out)-1] == ' ' {
		out = out[:len(out)-1]
	}
	if !slices.ContainsFunc(out, unicode.IsGraphic) || strings.TrimSpace(string(out)) == "" {
		return nil
	}
	return out
}

// cut bounds a text before anything is done with it.
func cut(text string) string {
	const most = 16 * mostLetters // bytes: letters with their marks
	if len(text) > most {
		return text[:most]
	}
	return text
}

// rightToLeft reports the direction of a text by its first letter that has one.
func rightToLeft(text []rune, otherwise bool) bool {
	for _, r := range text {
		switch script := language.LookupScript(r); {
		case r == rlm || script == language.Arabic && unicode.IsLetter(r):
			return true
		case r == lrm || script.Strong() && script != language.Arabic && unicode.IsLetter(r):
			return false
		}
	}
	return otherwise
}

// run is a shaped part of a line.
type run struct {
	shaping.Output
	level bidi.Level
}

// row is a shaped line, its parts from left to right.
type row struct {
	runs  []run
	width float64
}

// shape shapes one line. Its direction is that of the whole text it belongs to. Words stand a
// little further apart than the fonts have them: a card is often seen as large as a thumb.
func (s *scribe) shape(text []rune, fonts faces, size float64, rtl bool) row {
	if len(text) == 0 {
		return row{}
	}
	base := bidi.LeftToRight
	if rtl {
		base = bidi.RightToLeft
	}
	var out row
	parts := s.order.Segment(text, base)
	for i := range parts.NumRuns() {
		part := parts.Run(i)
		for _, in := range split(text, part, fonts) {
			in.Size = fixed.Int26_6(size*64 + 0.5)
			shaped := s.shaper.Shape(in)
			for g := range shaped.Glyphs {
				if text[shaped.Glyphs[g].TextIndex()] == ' ' {
					more := in.Size / 14
					shaped.Glyphs[g].Advance += more
					shaped.Advance += more
				}
			}
			out.runs = append(out.runs, run{shaped, part.Level})
			out.width += float64(shaped.Advance) / 64
		}
	}
	arrange(out.runs)
	return out
}

// split divides a part of one direction by writing system and face.
func split(text []rune, part bidi.Run, fonts faces) (out []shaping.Input) {
	direction := di.DirectionLTR
	if part.Level%2 == 1 {
		direction = di.DirectionRTL
	}
	var face *font.Face
	script := language.Common
	start := part.Start
	end := func(at int) {
		if at > start {
			in := shaping.Input{Text: text, RunStart: start, RunEnd: at, Direction: direction, Face: face, Script: script, Language: "en"}
			if in.Face == nil {
				in.Face = fonts[0] // of marks of direction alone, which nothing draws
			}
			if script == language.Arabic {
				in.Language = "ar"
			}
			out = append(out, in)
		}
		start = at
	}
	for i := part.Start; i < part.End; i++ {
		r := text[i]
		if r == zwj || r == zwnj || r == lrm || r == rlm {
			continue
		}
		own := language.LookupScript(r)
		prefer := face
		if own.Strong() && own != script {
			prefer = nil // each writing system in the font that was drawn for it
		}
		use := fonts.of(r, prefer)
		if use == nil {
			use = face
		}
		if face != nil && (use != face || own.Strong() && script.Strong() && own != script) {
			end(i)
			script = language.Common
		}
		face = use
		if own.Strong() {
			script = own
		}
	}
	end(part.End)
	return out
}

// arrange puts parts in the order of the eye: rule L2 of the Unicode bidirectional algorithm.
func arrange(runs []run) {
	var highest bidi.Level
	for _, r := range runs {
		highest = max(highest, r.level)
	}
	for level := highest; level >= 1; level-- {
		for i := 0; i < len(runs); {
			j := i
			for j < len(runs) && runs[j].level >= level {
				j++
			}
			slices.Reverse(runs[i:j])
			i = max(j, i+1)
		}
	}
}

// outlines calls each with every letter of a line that begins at x.
func (r row) outlines(x, baseline float64, each func(outline)) {
	for _, part := range r.runs {
		scale := float64(part.Size) / 64 / float64(part.Face.Upem())
		for _, g := range part.Glyphs {
			if data, ok := part.Face.GlyphData(g.GlyphID).(font.GlyphOutline); ok && g.GlyphID != 0 {
				each(letter(data, x+float64(g.XOffset)/64, baseline-float64(g.YOffset)/64, scale))
			}
			x += float64(g.Advance) / 64
		}
	}
}

func letter(data font.GlyphOutline, x, y, scale float64) (o outline) {
	at := func(p opentype.SegmentPoint) (px, py float64) { return x + float64(p.X)*scale, y - float64(p.Y)*scale }
	for _, s := range data.Segments {
		ax, ay := at(s.Args[0])
		bx, by := at(s.Args[1])
		cx, cy := at(s.Args[2])
		switch s.Op {
		case opentype.SegmentOpMoveTo:
			o.shut()
			o.move(ax, ay)
		case opentype.SegmentOpLineTo:
			o.line(ax, ay)
		case opentype.SegmentOpQuadTo:
			o.quad(ax, ay, bx, by)
		case opentype.SegmentOpCubeTo:
			o.cube(ax, ay, bx, by, cx, cy)
		}
	}
	o.shut()
	return o
}
