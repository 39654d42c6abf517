package role

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/station"
)

// Held is what a role tells of the secrets that it goes by, and not what they are.
type Held struct {
	Role string `json:"role"`
	// Marks are config.Mark of those that hold, newest first, by the name of the setting.
	Marks map[string][]string `json:"marks"`
	// Environment are the variables that secrets come from instead of the settings file.
	Environment map[string]string `json:"environment,omitempty"`
	// Note is what the role could not do with a new secret, and what is to be done then.
	Note string `json:"note,omitempty"`
}

// ErrOlder says that a role is a version that takes no secret while it runs.
var ErrOlder = errors.New("it is a version that takes no secret while it runs")

// Secrets answers at the role's socket which secrets it goes by, and has it take one of
// the settings: at once and without another program, so also while somebody is live.
func (r Role) Secrets(w Work) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /secrets", func(rw http.ResponseWriter, _ *http.Request) {
		innerhttp.Answer(rw, r.held(""))
	})
	mux.HandleFunc("POST /secrets", func(rw http.ResponseWriter, req *http.Request) {
		var order takeSecret
		if !innerhttp.Read(rw, req, mostOrder, &order) {
			return
		}
		if !slices.Contains(config.Rotating(), order.Secret) {
			innerhttp.Refuse(rw, fmt.Errorf("secret: %q is none that can be taken: %w", order.Secret, station.ErrInvalid))
			return
		}
		before := r.held("")
		if err := r.Config.TakeSecret(order.Secret); err != nil {
			innerhttp.Refuse(rw, fmt.Errorf("the settings cannot be read: %w", err))
			return
		}
		note := ""
		if w.Renew != nil {
			if err := w.Renew(req.Context()); err != nil {
				r.Log.Error("a new secret is not in force everywhere", "err", err)
				note = err.Error()
			}
		}
		now := r.held(note)
		for _, name := range config.Rotating() {
			if !slices.Equal(before.Marks[name], now.Marks[name]) {
				r.Log.Info("took a secret from the settings", "secret", name, "valid", len(now.Marks[name]))
			}
		}
		innerhttp.Answer(rw, now)
	})
	return mux
}

func (r Role) held(note string) Held {
	h := Held{Role: r.Name, Marks: map[string][]string{}, Environment: map[string]string{}, Note: note}
	for _, name := range config.Rotating() {
		for _, text := range r.Config.Secret(name).Valid() {
			h.Marks[name] = append(h.Marks[name], config.Mark(name, text))
		}
		if variable := r.Config.FromEnvironment(name); variable != "" {
			h.Environment[name] = variable
		}
	}
	return h
}

// takeSecret is the order to take a secret from the settings.
type takeSecret struct {
	Secret string `json:"secret"`
}

// Secrets asks which secrets a role goes by.
func (c *Client) Secrets(ctx context.Context) (Held, error) {
	return c.heldBy(ctx, http.MethodGet, nil)
}

// TakeSecret has the role take a secret from the settings. The error is ErrOlder where it
// cannot.
func (c *Client) TakeSecret(ctx context.Context, name string) (Held, error) {
	body, err := json.Marshal(takeSecret{name})
	if err != nil {
		return Held{}, err
	}
	return c.heldBy(ctx, http.MethodPost, body)
}

func (c *Client) heldBy(ctx context.Context, method string, body []byte) (h Held, err error) {
	text, err := c.do(ctx, method, "/secrets", body)
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(text, &h)
}
