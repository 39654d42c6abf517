package api

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/station"
)

const (
	testPayload    = 1 << 20  // bytes unless asked otherwise
	testPayloadMax = 16 << 20 // bytes

	// networkTests is how many clients may test at once: each takes all the
	// bandwidth it can get from the listeners.
	networkTests = 8
	// networkTestStall is how long one of them may take nothing.
	networkTestStall = 10 * time.Second
	// networkTestWhole is how long one may take: what has come by then tells the speed.
	networkTestWhole = time.Minute
	// networkTestRetry is what a client is told whose address is testing already.
	networkTestRetry = 5 * time.Second
)

func testBytes(op *huma.Operation) {
	smallest, largest := 1.0, float64(testPayloadMax)
	asks("query", "bytes", "Size of the answer; 1 MiB unless asked otherwise", huma.Schema{
		Type: huma.TypeInteger, Minimum: &smallest, Maximum: &largest,
	})(op)
	gives(http.StatusOK, "application/octet-stream")(op)
	may(http.StatusUnprocessableEntity, http.StatusServiceUnavailable)(op)
}

// networkTest sends bytes that no proxy can compress; ?bytes=N asks for a size.
func (s *Server) networkTest(w http.ResponseWriter, r *http.Request) error {
	size := testPayload
	if q := r.URL.Query().Get("bytes"); q != "" {
		n, err := strconv.Atoi(q)
		if err != nil || n < 1 || n > testPayloadMax {
			return fmt.Errorf("bytes: must be 1 to %d: %w", testPayloadMax, station.ErrInvalid)
		}
		size = n
	}
	end, err := s.testing.begin(client.Address(r))
	if err != nil {
		return err
	}
	defer end()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(size))
	w.Header().Set("Cache-Control", "no-store, no-transform")
	_, _ = io.CopyN(deadline.Within(w, networkTestStall, networkTestWhole), rand.NewChaCha8([32]byte{}), int64(size)) // the client may leave
	return nil
}

// networkTesting counts the network tests under way. The zero value is ready.
type networkTesting struct {
	mu      sync.Mutex
	all     int
	clients map[string]bool // addresses that test, or the networks that these lie in
}

// begin takes a place until end is called. One client has one, so that some are left for
// others; this machine, which has no address, may have all.
func (n *networkTesting) begin(address string) (end func(), err error) {
	key := cmp.Or(client.Wider(address), address)
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.clients[key]:
		return nil, &client.LimitError{RetryAfter: networkTestRetry}
	case n.all >= networkTests:
		return nil, fmt.Errorf("too many network tests at once, try again soon: %w", station.ErrUnavailable)
	}
	n.all++
	if key != "" {
		if n.clients == nil {
			n.clients = map[string]bool{}
		}
		n.clients[key] = true
	}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.all--
		delete(n.clients, key)
	}, nil
}
