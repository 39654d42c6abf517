package edge

// Encoded is how many events are kept as they go out to all.
func (e *Edge) Encoded() int {
	e.order.Lock()
	defer e.order.Unlock()
	return len(e.encoded)
}
