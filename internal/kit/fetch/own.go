package fetch

import (
	"context"
	"errors"
	"strings"
)

// Public returns a Client that reaches public addresses alone, for what others have
// written: it must not lead into the networks of Allow, which are no remedy here either.
func (c *Client) Public() *Client {
	o := c.o
	if o.Keep = 0; len(o.Allow) > 0 {
		o.Allow, o.Setting = nil, ""
	}
	return New(o)
}

// notOwn ends what is said of an address outside Allow where only Allow is reached.
const notOwn = "is not of the networks of your own"

// apart asks within Allow alone, redirects included, and then among public addresses
// alone: nobody outside leads into Allow, and a name that leads to either in turn cannot
// pass what is foreign off as one's own.
func (c *Client) apart(ask func(*Client) error) (own bool, err error) {
	if len(c.o.Allow) == 0 {
		return false, ask(c)
	}
	o := c.o
	o.only, o.Keep = true, 0
	var blocked *BlockedError
	if err = ask(New(o)); !errors.As(err, &blocked) || !strings.HasSuffix(blocked.Why, notOwn) {
		return err == nil, err
	}
	if err = ask(c.Public()); errors.As(err, &blocked) {
		err = &BlockedError{
			URL: blocked.URL, Why: "it leads from the networks of your own elsewhere, or from elsewhere into private ones (" + blocked.Why + ")",
			Remedy: "write the address that it leads to",
		}
	}
	return false, err
}

// OwnDocument is Document, and reports whether it came from Allow alone.
func (c *Client) OwnDocument(ctx context.Context, r Request) (d Document, own bool, err error) {
	own, err = c.apart(func(c *Client) (err error) {
		d, err = c.Document(ctx, r)
		return err
	})
	return d, own, err
}

// OwnFile is File from Allow alone, or from public addresses alone.
func (c *Client) OwnFile(ctx context.Context, r Request, to string, progress func(done, total int64)) (f File, err error) {
	_, err = c.apart(func(c *Client) (err error) {
		f, err = c.File(ctx, r, to, progress)
		return err
	})
	return f, err
}
