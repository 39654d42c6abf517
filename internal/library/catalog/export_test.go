package catalog

// Hold has every shelf wait before it is made.
func (c *Catalog) Hold(hold func()) { c.hold = hold }
