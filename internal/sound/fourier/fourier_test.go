package fourier_test

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/athir-radio/athir/internal/sound/fourier"
)

func TestTheTransformIsThatOfTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 256; n *= 2 {
		x, want := make([]complex128, n), make([]complex128, n)
		for i := range x {
			x[i] = complex(rng.NormFloat64(), rng.NormFloat64())
		}
		for k := range want {
			for i, v := range x {
				want[k] += v * cmplx.Rect(1, -2*math.Pi*float64(k*i)/float64(n))
			}
		}
		fourier.Transform(x)
		for k := range want {
			if cmplx.Abs(x[k]-want[k]) > 1e-9*float64(n) {
				t.Fatalf("%d of %d: %v, want %v", k, n, x[k], want[k])
			}
		}
	}
}
