package social

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// mostReceiving is how many bodies may come at once, and mostOfAddressReceiving those
	// of one address; a wider network has wideFactor times as many. Until it is whole a
	// body counts in none of Limits, and is on the disk already.
	mostReceiving          = 32
	mostOfAddressReceiving = 4
	// piece is after how many bytes of a body the disk is looked at, and waited for: see
	// upload.
	piece = 8 << 20
)

// arrivals counts the bodies that come now.
type arrivals struct {
	mu  sync.Mutex
	all int
	of  map[string]int // by keyed hash of the address, and of the wider network
}

// enter counts one more body, until leave. Errors: station.ErrFull, *client.LimitError.
func (a *arrivals) enter(p person) (leave func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	address, wider := string(p.address), string(p.wider)
	switch {
	case a.all >= mostReceiving:
		return nil, refusal.New(refusal.Busy).Kind(station.ErrFull)
	case address != "" && (a.of[address] >= mostOfAddressReceiving || a.of[wider] >= wideFactor*mostOfAddressReceiving):
		return nil, refusal.New(refusal.UnfinishedLimit).Kind(&client.LimitError{RetryAfter: time.Minute})
	}
	if a.of == nil {
		a.of = map[string]int{}
	}
	a.count(1, address, wider)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.count(-1, address, wider)
	}, nil
}

func (a *arrivals) count(by int, names ...string) {
	a.all += by
	for _, name := range names {
		if a.of[name] += by; a.of[name] == 0 {
			delete(a.of, name)
		}
	}
}

// pour writes a body to disk piece by piece. What others send fills the disk meanwhile.
func (s *Social) pour(f *os.File, r io.Reader) (size int64, err error) {
	for {
		if err := s.disk(0); err != nil {
			return size, err
		}
		n, err := io.CopyN(f, r, piece)
		size += n
		whole := errors.Is(err, io.EOF)
		if err != nil && !whole {
			return size, err
		}
		if err := f.Sync(); err != nil || whole {
			return size, err
		}
	}
}
