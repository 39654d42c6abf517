package attach

// Fill takes every place of the queue until free is called.
func (e *Ear) Fill() (free func()) {
	for range cap(e.queue) {
		e.queue <- struct{}{}
	}
	return func() {
		for range cap(e.queue) {
			<-e.queue
		}
	}
}
