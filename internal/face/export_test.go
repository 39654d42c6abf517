package face

// CheckCSS is checkCSS.
func CheckCSS(text string) error { return checkCSS(text) }
