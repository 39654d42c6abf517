package content

// Refusal says why a file is not taken, for programs and in both languages. It
// is the file's fault, and trying again will not help.
type Refusal struct {
	Code    string // too_short, too_long, silent, speech, duplicate, unreadable, too_large, mastering, source
	English string
	Arabic  string
}

func (r *Refusal) Error() string { return r.English }
