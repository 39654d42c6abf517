package retry

import (
	"context"
	"time"
)

const (
	// Patience is how long a listener's write waits for the station, tries included.
	Patience = 15 * time.Second
	// tryWait is how long one attempt waits for its answer.
	tryWait = 4 * time.Second
	// firstPause lies between the first two attempts; later ones are longer, up to mostPause.
	firstPause = 200 * time.Millisecond
	mostPause  = time.Second
)

// Answered sends a request until one attempt returns nil, which is its answer, or ctx ends.
// Then the error is that of the last attempt. Each attempt has 4 s. A request that may not
// come twice (again is false) is sent once: without an answer it is unknown whether it was
// carried out.
func Answered(ctx context.Context, again bool, send func(context.Context) error) error {
	for pause := firstPause; ; pause = min(pause*5/4, mostPause) {
		bounded, cancel := context.WithTimeout(ctx, tryWait)
		err := send(bounded)
		cancel()
		if err == nil || !again || Pause(ctx, pause) != nil {
			return err
		}
	}
}
