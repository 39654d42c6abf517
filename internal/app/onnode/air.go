package onnode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/node/relay"
)

const (
	mostSaid = 4 << 10 // bytes of the relay's answer
	// airEvery is between two tellings: a relay that was restarted knows nothing.
	airEvery = 2 * time.Second
)

// air keeps the relay told.
type air struct {
	log    *slog.Logger
	client *http.Client
	news   chan struct{}

	mu      sync.Mutex
	now     relay.Air
	segment int // the number that the relay gave its next one, when it was last told
}

// next is the number of the relay's next segment while this node has the air; 0: unknown.
func (a *air) next() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.now.OnAir {
		return 0
	}
	return a.segment
}

func newAir(log *slog.Logger, hook string) *air {
	return &air{log: log, client: &http.Client{Transport: innerhttp.Transport(hook), Timeout: airEvery}, news: make(chan struct{}, 1)}
}

func (a *air) tell(now relay.Air) {
	a.mu.Lock()
	a.now = now
	a.mu.Unlock()
	select {
	case a.news <- struct{}{}:
	default:
	}
}

func (a *air) run(ctx context.Context) {
	defer a.client.CloseIdleConnections()
	tick := time.NewTicker(airEvery)
	defer tick.Stop()
	failed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.news:
		case <-tick.C:
		}
		a.mu.Lock()
		now := a.now
		a.mu.Unlock()
		if now.Fence == 0 {
			continue
		}
		err := a.post(ctx, now)
		if err != nil && ctx.Err() == nil && !failed {
			a.log.Debug("the relay was not told whether this node is on the air, and is told again", "err", err)
		}
		failed = err != nil
	}
}

func (a *air) post(ctx context.Context, now relay.Air) error {
	body, _ := json.Marshal(now) // numbers
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://relay"+relay.AirOrder, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := a.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s answered %s", relay.AirOrder, resp.Status)
	}
	var said struct {
		Next int `json:"next"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostSaid)).Decode(&said); err != nil {
		return fmt.Errorf("answer of %s: %w", relay.AirOrder, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.segment = said.Next
	return nil
}
