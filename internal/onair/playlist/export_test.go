package playlist

// Sealed puts a right header before any body.
func Sealed(body []byte, entries int) []byte { return seal(body, entries) }
