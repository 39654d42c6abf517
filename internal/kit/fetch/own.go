package fetch

import (
	"context"
	"errors"
)

// Public returns a Client that reaches public addresses alone, for what others have
// written: it must not lead into the networks of Allow.
func (c *Client) Public() *Client {
	o := c.o
	o.Allow, o.Keep = nil, 0
	return New(o)
}

// OwnDocument is Document, and reports whether it came from Allow alone, redirects
// included. It is asked for there first, and then of public addresses alone: a name that
// leads to either in turn cannot pass a foreign document off as one's own.
func (c *Client) OwnDocument(ctx context.Context, r Request) (d Document, own bool, err error) {
	if len(c.o.Allow) > 0 {
		o := c.o
		o.only, o.Keep = true, 0
		d, err = New(o).Document(ctx, r)
		if !errors.As(err, new(*BlockedError)) {
			return d, err == nil, err
		}
	}
	d, err = c.Public().Document(ctx, r)
	return d, false, err
}
