package card

import (
	"image/color"
	"math"
	"strconv"
	"strings"
)

// shape is a part of a drawn cover: a path of SVG in a field of 100 × 100.
type shape struct {
	path    string
	fill    color.RGBA
	opacity float64
}

// drawnCover is the cover of a name as web/src/look/cover.ts draws it, shape for shape: the
// card of a song shows what its page shows.
type drawnCover struct {
	ground, tint, spark color.RGBA
	shapes              []shape
}

// palette is the ground, then three steps towards the light, then a spark.
type palette [5]color.RGBA

func palettes() []palette {
	out := make([]palette, 0, 8)
	for _, p := range [][5]uint32{
		{0x0f2d33, 0x17505a, 0x2b8187, 0x8fc9bd, 0xffb84d}, // the Nile at night
		{0x3b1f0b, 0x8a4312, 0xd9822b, 0xf5c26b, 0xfff1d0}, // saffron
		{0x2a1426, 0x5a2447, 0x9b3f5f, 0xe08a7b, 0xffd9a8}, // fig
		{0x121d3f, 0x263b7a, 0x4f74b8, 0xa8c6e8, 0xffcf70}, // khan
		{0x0d2b20, 0x1d5a41, 0x46946a, 0xb5dba6, 0xfff0b8}, // mint
		{0x34120f, 0x722a1c, 0xb5502f, 0xe6a06a, 0xf8e3c0}, // henna
		{0x453722, 0x8b7350, 0xc7aa77, 0xead9b2, 0x0f5c62}, // sand
		{0x0c2a3d, 0x1c5673, 0x5199b5, 0xb9dfe3, 0xff8a5c}, // sea mist
	} {
		var colours palette
		for i, v := range p {
			colours[i] = rgb(v)
		}
		out = append(out, colours)
	}
	return out
}

func rgb(v uint32) color.RGBA {
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255} //nolint:gosec // the lowest eight bits are meant
}

func coverOf(name string) drawnCover {
	c := chanceOf(name)
	all := palettes()
	p := all[int(c.next()*float64(len(all)))]
	motifs := []func(palette, *chance) []shape{waves, rosette, dunes, field, arches}
	motif := motifs[int(c.next()*float64(len(motifs)))]
	return drawnCover{ground: p[0], tint: p[1], spark: p[4], shapes: motif(p, c)}
}

// chance is mulberry32, seeded by FNV-1a of a name's code points.
type chance struct{ state uint32 }

func chanceOf(name string) *chance {
	h := uint32(0x811c9dc5)
	for _, r := range name {
		h = (h ^ uint32(r)) * 0x01000193 //nolint:gosec // a rune of a string is not negative
	}
	return &chance{h}
}

func (c *chance) next() float64 {
	c.state += 0x6d2b79f5
	t := (c.state ^ c.state>>15) * (1 | c.state)
	t = (t + (t^t>>7)*(61|t)) ^ t
	return float64(t^t>>14) / (1 << 32)
}

// at is a number as the page writes it: to a tenth, halves upwards.
func at(n float64) string {
	return strconv.FormatFloat(math.Floor(n*10+0.5)/10+0, 'f', -1, 64)
}

func point(x, y float64) string { return at(x) + " " + at(y) }

func polygon(points []string) string { return "M" + strings.Join(points, "L") + "z" }

func circle(x, y, r float64, sweep string) string {
	return "M" + point(x-r, y) + "a" + at(r) + " " + at(r) + " 0 1 " + sweep + " " + at(2*r) + " 0a" + at(r) + " " + at(r) + " 0 1 " + sweep + " " + at(-2*r) + " 0z"
}

func disc(x, y, r float64) string { return circle(x, y, r, "0") }

func ring(x, y, outer, inner float64) string { return disc(x, y, outer) + circle(x, y, inner, "1") }

// nuqta is the reed pen's dot.
func nuqta(x, y, r float64) string {
	return polygon([]string{point(x, y-r), point(x+r, y), point(x, y+r), point(x-r, y)})
}

func star(x, y, r float64, points int, inner, turn float64) string {
	corners := make([]string, points*2)
	for i := range corners {
		angle, reach := turn+math.Pi*float64(i)/float64(points), r
		if i%2 == 1 {
			reach = r * inner
		}
		corners[i] = point(x+reach*math.Sin(angle), y-reach*math.Cos(angle))
	}
	return polygon(corners)
}

// waves leave a mast. The conversion keeps a product rounded, as the page's, on every processor.
func waves(p palette, c *chance) []shape {
	x := 20 + c.next()*60
	y := 100.0
	if c.next() >= 0.5 {
		y = 68 + c.next()*14
	}
	step := 8 + c.next()*5
	var out []shape
	for i := 9; i >= 1; i-- {
		r, fill := float64(i)*step, p[1]
		switch {
		case i%3 == 0:
			fill = p[3]
		case i%2 == 1:
			fill = p[2]
		}
		out = append(out, shape{ring(x, y, r, r-step*(0.3+0.35*c.next())), fill, 1 - float64(float64(i)*0.07)})
	}
	return append(out, shape{nuqta(x, y, 6.5), p[4], 1})
}

// rosette is eightfold, as on a Cairene ceiling.
func rosette(p palette, c *chance) []shape {
	points, turn := 12, 0.0
	if c.next() < 0.6 {
		points = 8
	}
	if c.next() >= 0.5 {
		turn = math.Pi / float64(points)
	}
	half := math.Pi / float64(points)
	corner := 30 + c.next()*14
	open := 0.58 + c.next()*0.1
	heart := 13 + c.next()*6
	var out []shape
	for _, q := range [][2]float64{{0, 0}, {100, 0}, {0, 100}, {100, 100}} {
		out = append(out,
			shape{star(q[0], q[1], corner, points, 0.62, turn), p[1], 1},
			shape{star(q[0], q[1], corner*0.55, points, 0.62, turn), p[2], 0.9})
	}
	return append(out,
		shape{star(50, 50, 46, points, 0.66, turn), p[1], 1},
		shape{star(50, 50, 38, points, 0.7, turn+half), p[2], 1},
		shape{star(50, 50, 29, points, open, turn), p[3], 1},
		shape{star(50, 50, heart, points, 0.6, turn+half), p[0], 1},
		shape{disc(50, 50, 6), p[4], 1})
}

// dunes are hills of sand and something in the sky.
func dunes(p palette, c *chance) []shape {
	sky := 20 + c.next()*60
	out := []shape{
		{disc(sky, 32, 17+c.next()*4), p[4], 1},
		{ring(sky, 32, 30, 29.2), p[3], 0.6},
		{ring(sky, 32, 38, 37.4), p[3], 0.35},
	}
	for i, colour := range []int{1, 2, 3, 0} {
		base := 48 + float64(i)*13
		a := base - 16 + c.next()*26
		b := base - 12 + c.next()*26
		opacity := 1.0
		if colour == 3 {
			opacity = 0.85
		}
		out = append(out, shape{
			"M0 " + at(base) + "C30 " + at(a) + " 62 " + at(b) + " 100 " + at(base-6+c.next()*12) + "V100H0z",
			p[colour], opacity,
		})
	}
	return out
}

// field is one of dots that swells and thins like a signal.
func field(p palette, c *chance) []shape {
	fx := 1.2 + c.next()*2.2
	fy := 1.2 + c.next()*2.2
	px := c.next() * 6
	py := c.next() * 6
	var groups [3]strings.Builder
	bright, bx, by := -1.0, 0.0, 0.0
	for row := range 8 {
		for column := range 8 {
			x, y := 6.25+float64(column)*12.5, 6.25+float64(row)*12.5
			value := (math.Sin((x/100)*fx*3+px)+math.Cos((y/100)*fy*3+py))/4 + 0.5
			if value > bright {
				bright, bx, by = value, x, y
			}
			groups[min(2, int(value*3))].WriteString(nuqta(x, y, 1.4+value*5.6))
		}
	}
	var out []shape
	for i := range groups {
		out = append(out, shape{groups[i].String(), p[i+1], 1})
	}
	return append(out, shape{nuqta(bx, by, 7), p[4], 1})
}

// arches are doorways within doorways.
func arches(p palette, c *chance) []shape {
	x := 38 + c.next()*24
	out := []shape{{ring(x, 40, 62, 61), p[2], 0.5}}
	for i, colour := range []int{1, 2, 3, 0} {
		half, top := 40-float64(i)*10, 12+float64(i)*13
		shoulder := top + half*0.95
		out = append(out, shape{
			"M" + point(x-half, 100) + "V" + at(shoulder) + "Q" + point(x-half, top+half*0.28) + " " + point(x, top) +
				"Q" + point(x+half, top+half*0.28) + " " + point(x+half, shoulder) + "V100z",
			p[colour], 1,
		})
	}
	return append(out, shape{nuqta(x, 74, 5), p[4], 1})
}
