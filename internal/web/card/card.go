// Package card draws the picture that a link to the station shows where it is shared: cover,
// title, artist and the station's name on 1200 × 630 pixels, Arabic shaped and in its own
// direction. It draws what it is given; nothing is fetched, kept or looked up.
package card

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"

	"golang.org/x/image/draw"

	"github.com/athir-radio/athir/internal/kit/contrast"
)

// Width and Height are of the picture, in pixels.
const (
	Width  = 1200
	Height = 630
)

// MostBytes bounds a card: messengers show no picture above 600 kB. A cover that would take more,
// as one of film grain does, is drawn softer.
const (
	MostBytes = 560_000
	coarsest  = 4
)

// atOnce bounds the cards drawn at the same time: each takes about 10 MB.
const atOnce = 2

// Card is what a picture says. Every text may be empty; what no font has is left out.
type Card struct {
	Station, Title, Artist string
	// Line stands above the title: that it is on the air, or when it was.
	Line string
	// Accent is the station's colour. With none, or where it would not be seen, a lighter one is used.
	Accent color.RGBA
	// Logo and Cover may be nil. The cover is then drawn from the names.
	Logo, Cover image.Image
	// RTL puts the cover on the right.
	RTL bool
}

// Drawer draws cards. Its methods may be called from any goroutine.
type Drawer struct{ desks chan *desk }

// desk is what one card is drawn with.
type desk struct {
	scribe scribe
	pen    pen
	canvas *image.RGBA
	out    bytes.Buffer
	pool   buffers
}

// buffers hands PNG's encoder the one it had before.
type buffers struct{ one *png.EncoderBuffer }

func (b *buffers) Get() *png.EncoderBuffer  { return b.one }
func (b *buffers) Put(e *png.EncoderBuffer) { b.one = e }

// New reads the fonts.
func New() (*Drawer, error) {
	title, err := readFamily("reem-kufi", "readex-pro")
	if err != nil {
		return nil, err
	}
	text, err := readFamily("readex-pro", "reem-kufi")
	if err != nil {
		return nil, err
	}
	d := &Drawer{make(chan *desk, atOnce)}
	for range atOnce {
		d.desks <- &desk{
			scribe: scribe{title: title.faces(), text: text.faces()},
			canvas: image.NewRGBA(image.Rect(0, 0, Width, Height)),
		}
	}
	return d, nil
}

// Draw draws a card as a PNG. It waits where others are being drawn.
func (d *Drawer) Draw(c Card) ([]byte, error) {
	desk := <-d.desks
	defer func() { d.desks <- desk }()
	for grain := 1; ; grain *= 2 {
		desk.draw(c, grain)
		desk.out.Reset()
		encoder := png.Encoder{CompressionLevel: png.DefaultCompression, BufferPool: &desk.pool}
		if err := encoder.Encode(&desk.out, desk.canvas); err != nil {
			return nil, fmt.Errorf("write a card: %w", err)
		}
		if desk.out.Len() <= MostBytes || grain == coarsest {
			return bytes.Clone(desk.out.Bytes()), nil
		}
	}
}

// The places of things, in pixels. The cover's side is RTL's right.
const (
	margin    = 74
	coverSide = 462
	coverTop  = (Height - strip - coverSide) / 2
	gap       = 62
	column    = Width - 2*margin - coverSide - gap
	logoSide  = 52
	strip     = 8 // of the accent, along the bottom
)

func (d *desk) draw(c Card, grain int) {
	seed := c.Artist + c.Title
	if seed == "" {
		seed = c.Station
	}
	drawn := coverOf(seed)
	cover := d.coverPicture(c.Cover, drawn, grain)
	ground := groundOf(c.Cover != nil, cover, drawn)
	accent := legible(c.Accent, ground)

	d.backdrop(ground)
	draw.Draw(d.canvas, image.Rect(0, Height-strip, Width, Height), image.NewUniform(accent), image.Point{}, draw.Src)
	left, at := margin, margin+coverSide+gap
	if c.RTL {
		left, at = Width-margin-coverSide, margin
	}
	d.place(cover, left, ground)
	d.words(c, accent, ground, at)
}

// lighter is how much lighter than its ground a card is at the top.
const lighter = 0.07

// legible is the accent where it is seen on a ground, else a lighter one.
func legible(accent, ground color.RGBA) color.RGBA {
	if accent.A == 0 {
		accent = rgb(0xffb84d)
	}
	accent.A = 255
	top := mix(ground, color.RGBA{255, 255, 255, 255}, lighter)
	for range 40 {
		if contrast.Of(accent, top) >= 4.5 {
			break
		}
		accent = mix(accent, color.RGBA{255, 255, 255, 255}, 0.12)
	}
	return accent
}

// coverPicture is the square that is shown. What is finer than a grain is lost.
func (d *desk) coverPicture(given image.Image, drawn drawnCover, grain int) *image.RGBA {
	if given == nil || given.Bounds().Empty() {
		return d.pen.paintCover(coverSide, drawn)
	}
	b := given.Bounds()
	n := min(b.Dx(), b.Dy())
	middle := image.Rect(0, 0, n, n).Add(image.Pt(b.Min.X+(b.Dx()-n)/2, b.Min.Y+(b.Dy()-n)/2))
	out := image.NewRGBA(image.Rect(0, 0, coverSide, coverSide))
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	if grain > 1 {
		small := image.NewRGBA(image.Rect(0, 0, coverSide/grain, coverSide/grain))
		draw.CatmullRom.Scale(small, small.Bounds(), given, middle, draw.Src, nil)
		given, middle = small, small.Bounds()
	}
	draw.CatmullRom.Scale(out, out.Bounds(), given, middle, draw.Over, nil)
	return out
}

// groundOf is a dark colour that suits a cover: light letters stand on it.
func groundOf(given bool, cover *image.RGBA, drawn drawnCover) color.RGBA {
	tone := mix(drawn.ground, drawn.tint, 0.25)
	if given {
		tone = average(cover)
	}
	for range 40 {
		if contrast.Luminance(tone) <= 0.022 {
			break
		}
		tone = mix(tone, rgb(0x060b0c), 0.12)
	}
	return mix(tone, rgb(0x0b1618), 0.3)
}

// average is the middle colour of a picture, with more weight on what has colour.
func average(p *image.RGBA) color.RGBA {
	var r, g, b, weight float64
	for y := 4; y < p.Rect.Max.Y; y += 9 {
		for x := 4; x < p.Rect.Max.X; x += 9 {
			c := p.RGBAAt(x, y)
			w := 8 + float64(max(c.R, c.G, c.B)-min(c.R, c.G, c.B))
			r, g, b, weight = r+w*float64(c.R), g+w*float64(c.G), b+w*float64(c.B), weight+w
		}
	}
	if weight == 0 {
		return rgb(0x0b1618)
	}
	return color.RGBA{uint8(r / weight), uint8(g / weight), uint8(b / weight), 255}
}

// backdrop is a ground that is a little lighter at the top.
func (d *desk) backdrop(ground color.RGBA) {
	high := mix(ground, color.RGBA{255, 255, 255, 255}, lighter)
	low := mix(ground, color.RGBA{0, 0, 0, 255}, 0.35)
	for y := range Height {
		row := image.Rect(0, y, Width, y+1)
		draw.Draw(d.canvas, row, image.NewUniform(mix(high, low, float64(y)/Height)), image.Point{}, draw.Src)
	}
}

// place puts the cover on the canvas with round corners and a shadow.
func (d *desk) place(cover *image.RGBA, left int, ground color.RGBA) {
	x, y, side := float64(left), float64(coverTop), float64(coverSide)
	const radius = 30
	for i := range 12 {
		grow := 26 - 2.2*float64(i)
		shade := faded(mix(ground, color.RGBA{0, 0, 0, 255}, 0.8), 0.055)
		d.pen.fill(d.canvas, rounded(x-grow+4, y-grow+22, side+2*grow-8, side+2*grow-8, radius+grow), image.NewUniform(shade))
	}
	moved := *cover
	moved.Rect = cover.Rect.Add(image.Pt(left, coverTop))
	d.pen.fill(d.canvas, rounded(x, y, side, side, radius), &moved)
}

func inkColour() color.RGBA { return rgb(0xf4efe2) }

func (d *desk) words(c Card, accent, ground color.RGBA, left int) {
	ink := inkColour()
	soft := mix(ink, ground, 0.28)
	box := image.Rect(left, 0, left+column, Height)
	canvas := d.canvas.SubImage(box.Inset(-10)).(*image.RGBA)

	name := clean(c.Station, d.scribe.text)
	title := clean(c.Title, d.scribe.title)
	artist := clean(c.Artist, d.scribe.text)
	line := clean(c.Line, d.scribe.text)
	switch {
	case len(title) == 0 && len(artist) > 0:
		title, artist = clean(c.Artist, d.scribe.title), nil
	case len(title) == 0:
		title, name = clean(c.Station, d.scribe.title), nil
	}

	d.head(canvas, c, name, soft, box)

	// Line, title and artist stand in the middle of the cover's height, below the station's name.
	lines := d.scribe.fit(line, d.scribe.text, column-34, c.RTL, []setting{{30, 1}, {26, 1}})
	titles := d.scribe.fit(title, d.scribe.title, column, c.RTL, []setting{{92, 1}, {82, 1}, {74, 2}, {66, 2}, {58, 3}, {52, 3}, {46, 3}})
	artists := d.scribe.fit(artist, d.scribe.text, column, c.RTL, []setting{{38, 1}, {34, 2}, {30, 2}})
	const leading, between = 1.32, 1.4
	height := float64(len(titles.rows)) * titles.size * leading
	if len(lines.rows) > 0 {
		height += lines.size * 1.9
	}
	if len(artists.rows) > 0 {
		height += 10 + float64(len(artists.rows))*artists.size*between
	}
	top, bottom := float64(coverTop), float64(coverTop+coverSide)
	if len(name) > 0 || c.Logo != nil {
		top += logoSide + 20
	}
	y := top + (bottom-top-height)/2
	if len(lines.rows) > 0 {
		base := y + lines.size
		dot := float64(box.Min.X) + 10
		if c.RTL {
			dot = float64(box.Max.X) - 10
		}
		d.pen.fill(canvas, diamond(dot, base-lines.size*0.3, 10), image.NewUniform(accent))
		inner := box
		if c.RTL {
			inner.Max.X -= 34
		} else {
			inner.Min.X += 34
		}
		d.write(canvas, lines, inner, base, lines.size, c.RTL, accent)
		y += lines.size * 1.9
	}
	d.write(canvas, titles, box, y+titles.size*0.98, titles.size*leading, c.RTL, ink)
	y += float64(len(titles.rows))*titles.size*leading + 10
	d.write(canvas, artists, box, y+artists.size, artists.size*between, c.RTL, soft)
}

// head is the station's logo and name.
func (d *desk) head(canvas *image.RGBA, c Card, name []rune, shade color.RGBA, box image.Rectangle) {
	space := 0
	if c.Logo != nil && !c.Logo.Bounds().Empty() {
		b := c.Logo.Bounds()
		scale := min(float64(logoSide)/float64(b.Dy()), 3*float64(logoSide)/float64(b.Dx()))
		w, h := max(1, int(math.Round(float64(b.Dx())*scale))), max(1, int(math.Round(float64(b.Dy())*scale)))
		at := image.Rect(0, 0, w, h).Add(image.Pt(box.Min.X, coverTop+(logoSide-h)/2))
		if c.RTL {
			at = at.Add(image.Pt(box.Dx()-w, 0))
		}
		logo := image.NewRGBA(at)
		draw.CatmullRom.Scale(logo, at, c.Logo, b, draw.Src, nil)
		d.pen.fill(canvas, rounded(float64(at.Min.X), float64(at.Min.Y), float64(w), float64(h), 12), logo)
		space = w + 18
	}
	inner := box
	if c.RTL {
		inner.Max.X -= space
	} else {
		inner.Min.X += space
	}
	names := d.scribe.fit(name, d.scribe.text, float64(inner.Dx()), c.RTL, []setting{{32, 1}, {28, 1}})
	d.write(canvas, names, inner, coverTop+logoSide/2+names.size*0.34, 0, c.RTL, shade)
}

// write sets a block's lines from the side that reading starts at.
func (d *desk) write(canvas *image.RGBA, b block, box image.Rectangle, baseline, step float64, rtl bool, shade color.RGBA) {
	ink := image.NewUniform(shade)
	for _, r := range b.rows {
		x := float64(box.Min.X)
		if rtl {
			x = float64(box.Max.X) - r.width
		}
		r.outlines(x, baseline, func(o outline) { d.pen.fill(canvas, o, ink) })
		baseline += step
	}
}
