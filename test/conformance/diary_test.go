package conformance

import (
	"fmt"
	"sync"

	"github.com/athir-radio/athir/internal/web/socket"
)

// diary is an application whose clients take up where their connection broke: what it
// has said, in the namespace /kept, over all its servers.
type diary struct {
	mu   sync.Mutex
	n    *socket.Namespace
	said int
	// saved is what the last server left to the next.
	saved []byte
}

// open has the diary go on in a new server.
func (d *diary) open(server *socket.Server) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n = server.Of("/kept")
	d.n.OnConnect(func(c *socket.Socket) error {
		c.Offer("")
		return nil
	})
	d.n.Recover(socket.Recovery{
		Keep: func(*socket.Socket) []byte {
			d.mu.Lock()
			defer d.mu.Unlock()
			return fmt.Appendf(nil, "%d", d.said)
		},
		Resume: d.resume,
	})
	if d.saved == nil {
		return nil
	}
	return server.Load(d.saved)
}

// resume sends what came after the offset; who has none was here from the beginning.
func (d *diary) resume(c *socket.Socket, was socket.Kept, admit func() bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	from := 0
	if was.Offset != "" {
		if _, err := fmt.Sscanf(was.Offset, "after %d", &from); err != nil {
			return false
		}
	}
	for i := from; i < d.said; i++ {
		if m, err := d.message(i); err != nil || c.Send(m) != nil {
			return false
		}
	}
	return admit()
}

// message says a number; every second one with bytes.
func (d *diary) message(i int) (*socket.Message, error) {
	args := []any{i}
	if i%2 == 1 {
		args = append(args, []byte{byte(i), 0, 255})
	}
	return d.n.At(fmt.Sprint("after ", i+1), "noted", args...)
}

// say says the next number to all.
func (d *diary) say() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	m, err := d.message(d.said)
	if err != nil {
		return err
	}
	d.said++
	return d.n.Send(m)
}

// close keeps what the next server needs.
func (d *diary) close(server *socket.Server) error {
	data, err := server.Save()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.saved = data
	return err
}
