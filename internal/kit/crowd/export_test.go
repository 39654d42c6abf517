package crowd

// Open is how many names have places.
func (b *Bound) Open() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.open)
}
