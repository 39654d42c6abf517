package card

import (
	"image"
	"image/color"
	"math"
	"strconv"

	"golang.org/x/image/draw"
	"golang.org/x/image/vector"
)

// pen fills paths on a picture. It is used by one goroutine at a time.
type pen struct {
	ras    vector.Rasterizer
	points []spot
}

type spot struct{ x, y float64 }

// stroke is a step of a path: to the last of its points, with 0, 1 or 2 that bend it.
type stroke struct {
	kind byte // M, L, Q, C, z
	at   [3]spot
}

// outline is a path in the pixels of the picture.
type outline []stroke

func (o *outline) move(x, y float64) { *o = append(*o, stroke{'M', [3]spot{{x, y}}}) }
func (o *outline) line(x, y float64) { *o = append(*o, stroke{'L', [3]spot{{x, y}}}) }
func (o *outline) quad(bx, by, x, y float64) {
	*o = append(*o, stroke{'Q', [3]spot{{bx, by}, {x, y}}})
}
func (o *outline) cube(bx, by, cx, cy, x, y float64) {
	*o = append(*o, stroke{'C', [3]spot{{bx, by}, {cx, cy}, {x, y}}})
}
func (o *outline) shut() { *o = append(*o, stroke{kind: 'z'}) }

func (s stroke) spots() []spot {
	switch s.kind {
	case 'M', 'L':
		return s.at[:1]
	case 'Q':
		return s.at[:2]
	case 'C':
		return s.at[:3]
	}
	return nil
}

// fill fills an outline. Only what lies within both the picture and its own bounds is worked
// at: a letter costs what its own few pixels do.
func (p *pen) fill(dst draw.Image, path outline, paint image.Image) {
	low, high := spot{math.Inf(1), math.Inf(1)}, spot{math.Inf(-1), math.Inf(-1)}
	for _, s := range path {
		for _, q := range s.spots() {
			low = spot{min(low.x, q.x), min(low.y, q.y)}
			high = spot{max(high.x, q.x), max(high.y, q.y)}
		}
	}
	// NaN compares false: such a path is left out with the empty one.
	if !(low.x <= high.x && low.y <= high.y && low.x > -8*Width && low.y > -8*Width && high.x < 8*Width && high.y < 8*Width) {
		return
	}
	box := image.Rect(int(math.Floor(low.x)), int(math.Floor(low.y)), int(math.Ceil(high.x))+1, int(math.Ceil(high.y))+1)
	box = box.Intersect(dst.Bounds()) // the rasterizer clips paths, but writes beyond a picture
	if box.Empty() {
		return
	}
	p.ras.Reset(box.Dx(), box.Dy())
	ox, oy := float64(box.Min.X), float64(box.Min.Y)
	f := func(q spot) (x, y float32) { return float32(q.x - ox), float32(q.y - oy) }
	for _, s := range path {
		ax, ay := f(s.at[0])
		bx, by := f(s.at[1])
		cx, cy := f(s.at[2])
		switch s.kind {
		case 'M':
			p.ras.ClosePath()
			p.ras.MoveTo(ax, ay)
		case 'L':
			p.ras.LineTo(ax, ay)
		case 'Q':
			p.ras.QuadTo(ax, ay, bx, by)
		case 'C':
			p.ras.CubeTo(ax, ay, bx, by, cx, cy)
		case 'z':
			p.ras.ClosePath()
		}
	}
	p.ras.ClosePath()
	if _, plain := paint.(*image.Uniform); plain {
		p.ras.Draw(dst, box, paint, box.Min)
		return
	}
	// The rasterizer would ask a picture for each of its pixels by an interface.
	mask := image.NewAlpha(image.Rect(0, 0, box.Dx(), box.Dy()))
	p.ras.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	draw.DrawMask(dst, box, paint, box.Min, mask, image.Point{}, draw.Over)
}

// kappa bends a cubic curve into a quarter of a circle.
const kappa = 0.5522847498

func rounded(x, y, w, h, r float64) (o outline) {
	r = min(r, w/2, h/2)
	k := r * (1 - kappa)
	o.move(x+r, y)
	o.line(x+w-r, y)
	o.cube(x+w-k, y, x+w, y+k, x+w, y+r)
	o.line(x+w, y+h-r)
	o.cube(x+w, y+h-k, x+w-k, y+h, x+w-r, y+h)
	o.line(x+r, y+h)
	o.cube(x+k, y+h, x, y+h-k, x, y+h-r)
	o.line(x, y+r)
	o.cube(x, y+k, x+k, y, x+r, y)
	o.shut()
	return o
}

func diamond(x, y, r float64) (o outline) {
	o.move(x, y-r)
	o.line(x+r, y)
	o.line(x, y+r)
	o.line(x-r, y)
	o.shut()
	return o
}

// parse reads the part of SVG's paths that covers are drawn with, and sets it at x, y in a
// scale. Arcs are halves of circles.
func parse(path string, x, y, scale float64) (o outline) {
	var here spot
	set := func(q spot) (px, py float64) { return x + q.x*scale, y + q.y*scale }
	for i := 0; i < len(path); {
		kind := path[i]
		i++
		var n [7]float64
		count := 0
		for i < len(path) && count < len(n) {
			for i < len(path) && path[i] == ' ' {
				i++
			}
			end := i
			for end < len(path) && (path[end] == '-' || path[end] == '.' || path[end] >= '0' && path[end] <= '9') {
				end++
			}
			if end == i {
				break
			}
			n[count], _ = strconv.ParseFloat(path[i:end], 64) // of our own making: 0 shows up in the picture
			count++
			i = end
		}
		switch kind {
		case 'M':
			here = spot{n[0], n[1]}
			o.move(set(here))
		case 'L', 'V', 'H':
			switch kind {
			case 'L':
				here = spot{n[0], n[1]}
			case 'V':
				here.y = n[0]
			case 'H':
				here.x = n[0]
			}
			o.line(set(here))
		case 'Q':
			bx, by := set(spot{n[0], n[1]})
			here = spot{n[2], n[3]}
			ex, ey := set(here)
			o.quad(bx, by, ex, ey)
		case 'C':
			bx, by := set(spot{n[0], n[1]})
			cx, cy := set(spot{n[2], n[3]})
			here = spot{n[4], n[5]}
			ex, ey := set(here)
			o.cube(bx, by, cx, cy, ex, ey)
		case 'a':
			r, to := n[0], spot{here.x + n[5], here.y + n[6]}
			// Sweep 1 runs with the clock: over the top from left to right.
			up := -r
			if (n[4] == 0) == (to.x > here.x) {
				up = r
			}
			mid := spot{(here.x + to.x) / 2, here.y + up}
			half := (to.x - here.x) / 2
			for _, b := range [][3]spot{
				{{here.x, here.y + up*kappa}, {mid.x - half*kappa, mid.y}, mid},
				{{mid.x + half*kappa, mid.y}, {to.x, to.y + up*kappa}, to},
			} {
				bx, by := set(b[0])
				cx, cy := set(b[1])
				ex, ey := set(b[2])
				o.cube(bx, by, cx, cy, ex, ey)
			}
			here = to
		case 'z':
			o.shut()
		}
	}
	return o
}

// paintCover paints a drawn cover as a square.
func (p *pen) paintCover(side int, c drawnCover) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, side, side))
	draw.Draw(out, out.Bounds(), image.NewUniform(c.ground), image.Point{}, draw.Src)
	for _, s := range c.shapes {
		p.fill(out, parse(s.path, 0, 0, float64(side)/100), image.NewUniform(faded(s.fill, s.opacity)))
	}
	return out
}

// faded is a colour that lets through what is beneath it.
func faded(c color.RGBA, opacity float64) color.NRGBA {
	return color.NRGBA{c.R, c.G, c.B, uint8(255*opacity + 0.5)}
}

// mix is a colour on the way from one to another.
func mix(a, b color.RGBA, part float64) color.RGBA {
	m := func(x, y uint8) uint8 { return uint8(float64(x) + (float64(y)-float64(x))*part + 0.5) }
	return color.RGBA{m(a.R, b.R), m(a.G, b.G), m(a.B, b.B), 255}
}
