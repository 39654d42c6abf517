package output

import "github.com/athir-radio/athir/internal/node/supervise"

// Report is what a broadcast node knows of itself: what it hears of its own output, how its
// programs are, and what the machine lacks.
type Report struct {
	// Heard is nil where nothing listens: the guard is switched off.
	Heard    *Hearing           `json:"heard,omitempty"`
	Programs []supervise.Status `json:"programs"`
	// Short is what the machine is short of, in words; empty: of nothing.
	Short string `json:"short,omitempty"`
	// DiskFull names the folder whose disk is full; empty: none.
	DiskFull string `json:"diskFull,omitempty"`
}

// Program returns the state of a program; false when the node has none of that name.
func (r Report) Program(name string) (supervise.Status, bool) {
	for _, p := range r.Programs {
		if p.Name == name {
			return p, true
		}
	}
	return supervise.Status{}, false
}
