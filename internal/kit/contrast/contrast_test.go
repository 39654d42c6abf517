package contrast_test

import (
	"image/color"
	"math"
	"testing"

	"github.com/athir-radio/athir/internal/kit/contrast"
)

// The figures are those of WebAIM's checker, of two decimals.
func TestContrastIsThatOfWCAG(t *testing.T) {
	white := color.RGBA{255, 255, 255, 255}
	for c, want := range map[color.RGBA]float64{
		{0, 0, 0, 255}: 21, white: 1, {0x77, 0x77, 0x77, 255}: 4.48, {0x76, 0x76, 0x76, 255}: 4.54, {255, 0, 0, 255}: 4, {0, 0, 255, 255}: 8.59, {0, 255, 0, 255}: 1.37,
	} {
		for _, got := range []float64{contrast.Of(c, white), contrast.Of(white, c)} {
			if math.Abs(got-want) > 0.01 {
				t.Errorf("%v on white: %.2f, want %.2f", c, got, want)
			}
		}
	}
}
