package policy

// WithDisk runs do while nothing else can write.
func (o *Owner) WithDisk(do func()) {
	_ = o.disk.Alone(func() error {
		do()
		return nil
	})
}
