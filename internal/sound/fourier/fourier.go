// Package fourier has the discrete Fourier transform. It windows nothing and judges nothing.
package fourier

import (
	"math"
	"math/cmplx"
)

// Transform is the discrete Fourier transform in place, of a length that is a power of two.
func Transform(x []complex128) {
	n := len(x)
	for i, j := 1, 0; i < n; i++ {
		bit := n >> 1
		for ; j&bit != 0; bit >>= 1 {
			j ^= bit
		}
		j ^= bit
		if i < j {
			x[i], x[j] = x[j], x[i]
		}
	}
	for size := 2; size <= n; size *= 2 {
		turn := cmplx.Rect(1, -2*math.Pi/float64(size))
		for from := 0; from < n; from += size {
			w := complex(1, 0)
			for k := from; k < from+size/2; k++ {
				x[k], x[k+size/2] = x[k]+w*x[k+size/2], x[k]-w*x[k+size/2]
				w *= turn
			}
		}
	}
}
