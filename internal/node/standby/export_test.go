package standby

import (
	"context"
	"net"
	"time"
)

// Send gives the loop to a streaming server that is connected already.
func Send(ctx context.Context, o Options, conn net.Conn) error {
	l, err := newLoops(o).first(ctx)
	if err != nil {
		return err
	}
	return o.send(ctx, conn, l)
}

// Lead and WriteTime are how far ahead pages are sent, and how long a write may take.
const (
	Lead      = lead
	WriteTime = writeTime
)

// Pages is the stream as it would be sent in that time.
func Pages(ctx context.Context, o Options, until time.Duration) ([]byte, error) {
	l, err := newLoops(o).first(ctx)
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

// RunEncoding runs with an encoder of the test's own.
func RunEncoding(ctx context.Context, o Options, encode func(ctx context.Context, file, out string) error) error {
	l := newLoops(o)
	l.encode = encode
	return run(ctx, o, l)
}
