package covers

// SetSpace puts another disk under the folder.
func (c *Covers) SetSpace(space func(string) (free, size uint64, err error)) { c.space = space }
