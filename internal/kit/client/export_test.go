package client

// Remembered is how many clients the limits know.
func (l *Limits) Remembered() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.clients)
}
