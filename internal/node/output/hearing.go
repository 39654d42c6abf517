package output

import (
	"time"

	"github.com/athir-radio/athir/internal/sound/deadair"
)

// Hearing is what an Ear knows at one moment. It holds how long ago something was, not
// when: whoever asks may have another clock.
type Hearing struct {
	deadair.Verdict
	// Arrived is how long ago audio last arrived, by the positions of the stream's pages,
	// and Decoded how long ago some of it was last decoded; negative: never. A decoder
	// without a processor is behind what arrives.
	Arrived, Decoded time.Duration
	// Standby is for how long only the server's standby audio has come; 0: it does not.
	// Cuts is how often that began.
	Standby time.Duration
	Cuts    int
	// Full: the server has no place for another listener, ourselves included.
	Full bool
	// Cause is why the last connection ended or failed.
	Cause string
}

// never is the age of what has not been.
const never = time.Duration(-1)
