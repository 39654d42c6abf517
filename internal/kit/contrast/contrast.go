// Package contrast tells how well one colour is told from another, by WCAG 2.2.
package contrast

import (
	"image/color"
	"math"
)

// Of is the contrast of two opaque colours, from 1 to 21.
func Of(a, b color.RGBA) float64 {
	x, y := Luminance(a), Luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Luminance is the relative luminance of an opaque colour, from 0 (black) to 1 (white).
func Luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}
