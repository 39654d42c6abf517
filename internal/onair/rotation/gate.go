package rotation

import (
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Airs reports whether music of a category may air at a time, which is in the station's
// zone: whether its daypart leaves it a weight.
func (c Config) Airs(category station.Category, at time.Time) bool {
	d, _ := covering(c.dayparts(), at)
	return weights(c, d)[category] > 0
}
