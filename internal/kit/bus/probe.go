package bus

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Probe connects once, as Connect does again and again, and returns why a bus does not let
// us in. It waits as long as ctx says, three seconds where that says nothing.
func Probe(ctx context.Context, opt Options) error {
	for part := range strings.SplitSeq(opt.URL, ",") {
		if _, err := url.Parse(part); err != nil { // its text repeats the address, password and all
			return errors.New("the bus has no valid address: user and password in it must be percent-encoded")
		}
	}
	wait := 3 * time.Second
	if end, ok := ctx.Deadline(); ok {
		wait = time.Until(end)
	}
	conn, err := nats.Connect(opt.URL, append(opt.credentials(), nats.Timeout(wait), nats.NoReconnect())...)
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return errors.New("the bus refuses our password")
	case err != nil:
		return fmt.Errorf("the bus cannot be reached: %w", err)
	}
	conn.Close()
	return nil
}
