package onbackup

// For tests of this package.
var (
	Due   = due
	Prune = prune
)
