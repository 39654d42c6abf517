package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/node/relay"
)

// pathListPath is where relay and MediaMTX answer.
const pathListPath = "/v3/paths/list"

// pathList is what we read of /v3/paths/list.
type pathList struct {
	Items []pathItem `json:"items"`
}

type pathItem struct {
	Name      string    `json:"name"`
	Ready     bool      `json:"ready"`
	Readers   []reader  `json:"readers"`
	BytesSent uint64    `json:"bytesSent"`
	LastData  time.Time `json:"lastDataTime"` // ours; MediaMTX does not tell
}

type reader struct {
	ID string `json:"id"`
}

// mainPath is the station's own path in the list of the relay at an address.
func mainPath(ctx context.Context, client *http.Client, address string) (pathItem, error) {
	url := "http://" + address + pathListPath
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return pathItem{}, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return pathItem{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	var list pathList
	if err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, 64<<20)).Decode(&list); err != nil {
		return pathItem{}, err
	}
	for _, p := range list.Items {
		if p.Name == relay.MainPath {
			return p, nil
		}
	}
	return pathItem{}, fmt.Errorf("no path %q at the relay", relay.MainPath)
}

// hlsReady reports whether the relay has a playlist to give.
func hlsReady(cfg *config.Config) func(context.Context) error {
	client := &http.Client{Timeout: 2 * time.Second}
	return func(ctx context.Context) error {
		p, err := mainPath(ctx, client, config.Local(cfg.Ports.Paths))
		if err == nil && !p.Ready {
			err = errors.New("HLS is not ready")
		}
		return err
	}
}
