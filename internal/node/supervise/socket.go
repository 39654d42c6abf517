package supervise

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/kit/reexec"
)

// Serve answers GET /processes, POST /processes/NAME/restart and GET /report, with what
// report returns, on a Unix socket until ctx ends. Only the user who runs the station can
// reach it.
func (s *Supervisor) Serve(ctx context.Context, socket string, report func() any, handover *reexec.Handover) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /processes", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.Programs()) // the reader may be gone
	})
	mux.HandleFunc("GET /report", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(report())
	})
	mux.HandleFunc("POST /processes/{name}/restart", func(w http.ResponseWriter, r *http.Request) {
		if err := s.Restart(r.PathValue("name")); err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
		}
	})
	// The data directory is locked by now: a socket that is there is a leftover.
	return innerhttp.Serve(ctx, socket, mux, handover)
}

// Node keeps a node's programs running, on this machine or another. Client has the
// contract of its methods.
type Node interface {
	Programs(ctx context.Context) ([]Status, error)
	Restart(ctx context.Context, name string) error
	Report(ctx context.Context, into any) error
}

// Client reads the node's state and steers its programs through its socket.
type Client struct {
	http http.Client
}

// NewClient does not connect yet.
func NewClient(socket string) *Client {
	return &Client{http: http.Client{Timeout: 2 * time.Second, Transport: innerhttp.Transport(socket)}}
}

// Programs returns the state of every supervised program.
func (c *Client) Programs(ctx context.Context) ([]Status, error) {
	var out []Status
	err := c.ask(ctx, http.MethodGet, "/processes", &out)
	return out, err
}

// Restart ends the named program; the node starts it again at once.
func (c *Client) Restart(ctx context.Context, name string) error {
	return c.ask(ctx, http.MethodPost, "/processes/"+url.PathEscape(name)+"/restart", nil)
}

// Report reads the node's report into a value.
func (c *Client) Report(ctx context.Context, into any) error {
	return c.ask(ctx, http.MethodGet, "/report", into)
}

func (c *Client) ask(ctx context.Context, method, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://node"+path, nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("query the node: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 500))
		return fmt.Errorf("query the node: %s: %s", resp.Status, bytes.TrimSpace(text))
	}
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("decode the node's answer: %w", err)
	}
	return nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }
