package social

import (
	"errors"
	"io"
	"os"
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

// arrives counts one more body that comes, until leave. Errors: station.ErrFull,
// *client.LimitError.
func (s *Social) arrives(p person) (leave func(), err error) {
	leave, err = s.receiving.Enter(mostReceiving,
		client.Share{Name: string(p.address), Most: mostOfAddressReceiving}, client.Share{Name: string(p.wider), Most: wideFactor * mostOfAddressReceiving})
	switch {
	case errors.Is(err, client.ErrNoPlace):
		return nil, refusal.New(refusal.Busy).Kind(station.ErrFull)
	case err != nil:
		return nil, refusal.New(refusal.UnfinishedLimit).Kind(&client.LimitError{RetryAfter: time.Minute})
	}
	return leave, nil
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
