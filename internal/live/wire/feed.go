package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/athir-radio/athir/internal/station"
)

// Feed asks a WHIP server's /whip-info whether a feed flows (mission: Live takeover). The
// error is of kind station.ErrUnavailable: a server that does not answer has none.
func Feed(ctx context.Context, client *http.Client, address string) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return false, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return false, fmt.Errorf("ask the WHIP server: %w: %w", err, station.ErrUnavailable)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	var info struct {
		Live bool `json:"live"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostAnswer)).Decode(&info); err != nil || resp.StatusCode != http.StatusOK {
		return false, fmt.Errorf("ask the WHIP server: %s answers %s: %w", address, resp.Status, station.ErrUnavailable)
	}
	return info.Live, nil
}
