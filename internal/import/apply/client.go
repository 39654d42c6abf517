package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/import/plan"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/station"
)

// Station is the API of the running station.
type Station struct {
	Base string // http://127.0.0.1:5000
	Key  string
	HTTP *http.Client // nil: the default one
}

const mostAnswer = 64 << 20

// Refused is an order that the station refuses.
type Refused struct {
	Status int
	Text   string
	Words  *plan.Words // what the station says of it in both languages; nil: only Text
	After  time.Duration
}

func (e *Refused) Error() string { return fmt.Sprintf("the station answered %d: %s", e.Status, e.Text) }

// later reports an answer that another try may change.
func (e *Refused) later() bool {
	switch e.Status {
	case http.StatusLocked, http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusInternalServerError:
		return true
	}
	return false
}

// ours reports an answer that no other file or playlist would change: the import stops.
func (e *Refused) ours() bool {
	return e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden || e.Status == http.StatusInsufficientStorage || e.later()
}

func (e *Refused) words() plan.Words {
	if e.Words != nil {
		return *e.Words
	}
	return plan.Words{En: e.Text, Ar: e.Text}
}

// send sends a request with the key; an answer of 400 and above is a *Refused.
func (s Station) send(ctx context.Context, method, path string, header http.Header, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.Base+path, body)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if s.Key != "" {
		req.Header.Set("X-Station-Key", s.Key)
	}
	client := s.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no station answers at %s: start it with athir run: %w", s.Base, err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		defer resp.Body.Close() //nolint:errcheck // only read
		return nil, refusedBy(resp)
	}
	return resp, nil
}

func refusedBy(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	var problem struct {
		Title  string      `json:"title"`
		Detail string      `json:"detail"`
		Reason *plan.Words `json:"reason"`
		Errors []struct {
			Location string `json:"location"`
			Message  string `json:"message"`
			Arabic   string `json:"arabic"`
		} `json:"errors"`
	}
	_ = json.Unmarshal(text, &problem)
	out := &Refused{Status: resp.StatusCode, Text: problem.Detail, Words: problem.Reason}
	if out.Text == "" {
		out.Text = problem.Title
	}
	var arabic []string
	for _, e := range problem.Errors {
		out.Text += fmt.Sprintf("; %s: %s", strings.TrimPrefix(e.Location, "body."), e.Message)
		if e.Arabic != "" {
			arabic = append(arabic, e.Arabic)
		}
	}
	if out.Words == nil && len(arabic) > 0 {
		out.Words = &plan.Words{En: out.Text, Ar: strings.Join(arabic, "؛ ")}
	}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 && n <= 120 {
		out.After = time.Duration(n) * time.Second
	}
	return out
}

// call sends an order as JSON and reads the answer.
func (s Station) call(ctx context.Context, method, path string, body, into any) error {
	header := http.Header{}
	var r io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		header.Set("Content-Type", "application/json")
		r = bytes.NewReader(text)
	}
	resp, err := s.send(ctx, method, path, header, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return fmt.Errorf("the station's answer broke off: %w", err)
	}
	if into == nil || len(text) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read the station's answer to %s %s: %w", method, path, err)
	}
	return nil
}

// track is one of the library, as it is listed.
type track struct {
	Path     string           `json:"path"`
	Title    string           `json:"title"`
	Artist   string           `json:"artist"`
	Album    string           `json:"album"`
	Genre    string           `json:"genre"`
	ISRC     string           `json:"isrc"`
	Category station.Category `json:"category"`
	Length   int64            `json:"durationMs"`
	Size     int64            `json:"size"`
	Edited   bool             `json:"edited"`
}

// Library is what the station has, for the plan.
func (s Station) Library(ctx context.Context) (out plan.Library, err error) {
	if out.Tracks, err = s.tracks(ctx); err != nil {
		return out, err
	}
	if out.Playlists, err = s.playlists(ctx); err != nil {
		return out, err
	}
	var status struct {
		Station struct {
			Zone string `json:"timezone"`
		} `json:"station"`
	}
	if err := s.call(ctx, http.MethodGet, "/api/status", nil, &status); err != nil {
		return out, err
	}
	out.Zone = status.Station.Zone
	var people struct {
		Users []struct {
			Login string `json:"login"`
		} `json:"users"`
	}
	if err := s.call(ctx, http.MethodGet, "/api/people", nil, &people); err != nil {
		return out, err
	}
	for _, u := range people.Users {
		out.Logins = append(out.Logins, u.Login)
	}
	hooks, err := s.webhooks(ctx)
	for _, h := range hooks {
		out.Webhooks = append(out.Webhooks, h.URL)
	}
	return out, err
}

const pageSize = 200

// tracks reads the whole library; where it changes meanwhile it begins again.
func (s Station) tracks(ctx context.Context) (out []plan.Held, err error) {
	for tries := 0; ; tries++ {
		out = out[:0]
		for generation, offset := uint64(0), 0; ; offset += pageSize {
			var page struct {
				Generation uint64  `json:"generation"`
				Total      int     `json:"total"`
				Tracks     []track `json:"tracks"`
			}
			if err := s.call(ctx, http.MethodGet, fmt.Sprintf("/api/station/library?sort=path&order=asc&limit=%d&offset=%d", pageSize, offset), nil, &page); err != nil {
				return nil, err
			}
			if offset > 0 && page.Generation != generation && tries < 5 {
				break
			}
			generation = page.Generation
			for _, t := range page.Tracks {
				out = append(out, plan.Held{
					Path: t.Path, Title: t.Title, Artist: t.Artist, Album: t.Album, Genre: t.Genre, ISRC: t.ISRC, Category: t.Category,
					Length: time.Duration(t.Length) * time.Millisecond, Size: t.Size, Edited: t.Edited,
				})
			}
			if offset+pageSize >= page.Total || len(page.Tracks) == 0 {
				return out, nil
			}
		}
	}
}

// playlists are those there are.
func (s Station) playlists(ctx context.Context) ([]plan.List, error) {
	var all struct {
		Playlists []plan.List `json:"playlists"`
	}
	err := s.call(ctx, http.MethodGet, "/api/station/playlists", nil, &all)
	return all.Playlists, err
}

type webhook struct {
	ID      string `json:"id"`
	URL     string `json:"url"`
	Enabled bool   `json:"enabled"`
	Secret  string `json:"secret"`
}

func (s Station) webhooks(ctx context.Context) ([]webhook, error) {
	var all struct {
		Webhooks []webhook `json:"webhooks"`
	}
	err := s.call(ctx, http.MethodGet, "/api/station/webhooks", nil, &all)
	return all.Webhooks, err
}

// transient reports an error that another try may not meet: no answer, or one that asks for patience.
func transient(err error) bool {
	var refused *Refused
	var away *url.Error
	var unread *unreadError
	var answer *fetch.StatusError
	switch {
	case errors.As(err, &refused):
		return refused.later()
	case errors.As(err, &answer):
		return !answer.Lasting()
	case errors.As(err, &unread):
		return !unread.lacking()
	case errors.As(err, &away):
		return true
	}
	return errors.Is(err, io.ErrUnexpectedEOF)
}
