package peaks

import "time"

// NewWith makes a Drawer that draws by a function.
func NewWith(draw func(path string, about time.Duration) (Wave, error)) *Drawer {
	return newDrawer(draw)
}
