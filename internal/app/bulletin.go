package app

import "math"

// thousandths rounds to three decimals, the precision of the measurement.
func thousandths(f float64) float64 { return math.Round(f*1000) / 1000 }
