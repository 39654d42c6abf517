package standby

import (
	"context"
	"time"
)

// Pages is the stream as it would be sent in that time.
func Pages(ctx context.Context, o Options, until time.Duration) ([]byte, error) {
	l, err := o.loop(ctx)
	if err != nil {
		return nil, err
	}
	var out []byte
	for at, page := range l.pages(serial) {
		if at > until {
			break
		}
		out = append(out, page...)
	}
	return out, nil
}
