package turns

// Waiting is how many wait for a commit that has not begun.
func (t *Turns[T]) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}
