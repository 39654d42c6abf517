package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

// Carts gives the desk the cart wall. Errors: as of Put.
func (d Desk) Carts(ctx context.Context, w live.Wall) (live.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	var out live.Report
	return out, carts(call(ctx, d, http.MethodPut, "http://node/carts", nil, w, &out))
}

// Fire lets a cart be heard, and tells since when by the clock of this machine. Errors: station.ErrConflict while nothing is live,
// station.ErrUnavailable.
func (d Desk) Fire(ctx context.Context, p live.CartPress) (live.CartPlaying, error) {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	var out live.CartPlaying
	err := carts(call(ctx, d, http.MethodPost, "http://node/carts/fire", nil, p, &out))
	out.StartedAt = d.Clock.Here(out.StartedAt)
	return out, err
}

// StopCarts ends one that is heard, or all where id is empty, and tells how many it were.
func (d Desk) StopCarts(ctx context.Context, id string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	var out struct {
		Stopped int `json:"stopped"`
	}
	err := call(ctx, d, http.MethodPost, "http://node/carts/stop", nil, map[string]string{"id": id}, &out)
	return out.Stopped, carts(err)
}

// carts says what it means that a node lacks the orders of the cart wall.
func carts(err error) error {
	if errors.Is(err, station.ErrNotFound) {
		return fmt.Errorf("the node runs a version without carts: update it: %w", station.ErrUnavailable)
	}
	return err
}
