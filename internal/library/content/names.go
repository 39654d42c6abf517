package content

import (
	"path"

	"github.com/athir-radio/athir/internal/kit/filename"
	"github.com/athir-radio/athir/internal/station"
)

// placeFor is the n-th choice of where a file of a category goes.
func placeFor(category station.Category, name string, n int) string {
	return path.Join("music", string(category), filename.Numbered(name, n))
}
