package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/kit/census"
)

// PathListPath is where relay and MediaMTX answer.
const PathListPath = "/v3/paths/list"

// listed is what we read of /v3/paths/list.
type listed struct {
	Items []Path `json:"items"`
}

// Path is one path of the list.
type Path struct {
	Name      string    `json:"name"`
	Ready     bool      `json:"ready"`
	Readers   []Reader  `json:"readers"`
	BytesSent uint64    `json:"bytesSent"`
	LastData  time.Time `json:"lastDataTime"` // ours; MediaMTX does not tell
	// Crowd is of what kinds the readers are; ours too.
	Crowd census.Crowd `json:"crowd"`
}

// Reader is one session.
type Reader struct {
	ID string `json:"id"`
}

// ReadMainPath is the station's own path in the list of the relay at an address.
func ReadMainPath(ctx context.Context, client *http.Client, address string) (Path, error) {
	url := "http://" + address + PathListPath
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return Path{}, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return Path{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	var list listed
	if err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, 64<<20)).Decode(&list); err != nil {
		return Path{}, err
	}
	for _, p := range list.Items {
		if p.Name == MainPath {
			return p, nil
		}
	}
	return Path{}, fmt.Errorf("no path %q at the relay", MainPath)
}
