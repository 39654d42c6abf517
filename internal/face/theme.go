package face

import (
	"fmt"
	"image/color"
	"strconv"

	"github.com/athir-radio/athir/internal/kit/contrast"
)

const (
	// readable is the least contrast of text by WCAG 2.2, 1.4.3.
	readable = 4.5
	// seen is the least between what is pressed and the ground beneath, about what the pages'
	// own colours have: a colour that is nearly the ground's would be no button.
	seen = 1.45
)

// grounds are those of pages (web/src/look/base.css), on which the colours must be seen.
type grounds struct {
	all  []color.RGBA
	away uint8 // what a colour that is too near to them is mixed with: black or white
}

func noon() grounds  { return grounds{[]color.RGBA{rgb(0xe9efec), rgb(0xf6f9f7), rgb(0xdde6e2)}, 0} }
func night() grounds { return grounds{[]color.RGBA{rgb(0x0b1618), rgb(0x112124), rgb(0x081012)}, 255} }

// Theme is the style sheet that gives pages the operator's colour: of what is pressed, of what
// stands on it, and of text, which is darker by day and lighter by night where the colour itself
// could not be read. Without a colour it is empty, and pages have their own.
func Theme(accent string) string {
	c, ok := Accent(accent)
	if !ok {
		return ""
	}
	// Twice :root: it holds wherever the page's own style sheet stands.
	return fmt.Sprintf(":root:root {\n%s}\n@media (prefers-color-scheme: dark) {\n:root:root {\n%s}\n}\n", noon().variables(c), night().variables(c))
}

// Accent reads a colour as it is kept.
func Accent(text string) (color.RGBA, bool) {
	if !colour.MatchString(text) {
		return color.RGBA{}, false
	}
	n, err := strconv.ParseUint(text[1:], 16, 32)
	return rgb(uint32(n)), err == nil //nolint:gosec // 24 bits
}

func (g grounds) variables(c color.RGBA) string {
	signal := g.apart(c, seen)
	return fmt.Sprintf("  --signal: %s;\n  --on-signal: %s;\n  --signal-ink: %s;\n", hexOf(signal), hexOf(on(signal)), hexOf(g.apart(c, readable)))
}

// apart is a colour moved away from the grounds by as little as gives the contrast on each.
func (g grounds) apart(c color.RGBA, least float64) color.RGBA {
	for step := range 256 {
		out := mixed(c, g.away, step)
		enough := true
		for _, ground := range g.all {
			enough = enough && contrast.Of(out, ground) >= least
		}
		if enough {
			return out
		}
	}
	return color.RGBA{g.away, g.away, g.away, 255}
}

// on is the colour of text on another: of black and white, one has 4.5 on any.
func on(c color.RGBA) color.RGBA {
	black, white := rgb(0x000000), rgb(0xffffff)
	if contrast.Of(c, white) >= contrast.Of(c, black) {
		return white
	}
	return black
}

func mixed(c color.RGBA, with uint8, step int) color.RGBA {
	mix := func(v uint8) uint8 { return uint8((int(v)*(255-step) + int(with)*step) / 255) } //nolint:gosec // at most 255
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}

func rgb(n uint32) color.RGBA { return color.RGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 255} } //nolint:gosec // its bytes

func hexOf(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
