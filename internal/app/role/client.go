package role

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/station"
)

// askWithin bounds one question to a role; an order has the new program examined first.
const askWithin = examineWithin + 5*time.Second

var (
	// ErrAway says that a role does not run.
	ErrAway = errors.New("it does not run")
	// ErrUnanswered says that a role was asked and did not answer: whether an order was
	// taken is unknown.
	ErrUnanswered = errors.New("it does not answer")
)

// Client asks a role at its socket.
type Client struct{ http http.Client }

// NewClient does not connect yet.
func NewClient(sockets, name string) *Client {
	return &Client{http.Client{Timeout: askWithin, Transport: innerhttp.Transport(Socket(sockets, name))}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// State asks for the role's state.
func (c *Client) State(ctx context.Context) (State, error) {
	return c.ask(ctx, http.MethodGet, "/role", nil)
}

// Replace orders another program. The error is station.ErrConflict while the role is busy.
func (c *Client) Replace(ctx context.Context, order Replace) (State, error) {
	body, err := json.Marshal(order)
	if err != nil {
		return State{}, err
	}
	return c.ask(ctx, http.MethodPost, "/replace", body)
}

func (c *Client) ask(ctx context.Context, method, path string, body []byte) (s State, err error) {
	text, err := c.do(ctx, method, path, body)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}

func (c *Client) do(ctx context.Context, method, path string, body []byte) (s []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://role"+path, bytes.NewReader(body))
	if err != nil {
		return s, err
	}
	resp, err := c.http.Do(req)
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ECONNREFUSED):
		return s, ErrAway
	case errors.Is(err, syscall.EACCES):
		return s, fmt.Errorf("%w: run this as the station's user, or as root", err)
	case err != nil:
		return s, fmt.Errorf("%w: %w", ErrUnanswered, err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostOrder))
	if err != nil {
		return s, err
	}
	if resp.StatusCode == http.StatusNotFound { // by the routes alone
		return s, ErrOlder
	}
	if resp.StatusCode != http.StatusOK {
		var problem struct {
			Detail string `json:"detail"`
		}
		_ = json.Unmarshal(text, &problem)
		if resp.StatusCode == http.StatusConflict {
			return s, fmt.Errorf("%s: %w", problem.Detail, station.ErrConflict)
		}
		return s, errors.New(problem.Detail)
	}
	return text, nil
}

// States asks every role that has a socket in a folder and runs. The error joins what those
// said that run and could not be asked.
func States(ctx context.Context, sockets string) (out []State, err error) {
	names, err := Sockets(sockets)
	if err != nil {
		return nil, fmt.Errorf("look for the station's roles: %w", err)
	}
	for _, name := range names {
		c := NewClient(sockets, name)
		s, asked := c.State(ctx)
		c.Close()
		switch {
		case asked == nil:
			out = append(out, s)
		case !errors.Is(asked, ErrAway):
			err = errors.Join(err, fmt.Errorf("%s: %w", name, asked))
		}
	}
	return out, err
}
