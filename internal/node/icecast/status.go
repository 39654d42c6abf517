package icecast

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/athir-radio/athir/internal/kit/port"
	"github.com/athir-radio/athir/internal/station"
)

// Source is one mount with a connected source, as status-json.xsl lists it.
type Source struct {
	ListenURL string `json:"listenurl"`
	Type      string `json:"server_type"` // "application/ogg"
	Name      string `json:"server_name"`
	Title     string `json:"title"`
	Artist    string `json:"artist"`
	Bitrate   int    `json:"bitrate"` // kbit/s; 0 when the source does not say
	Listeners int    `json:"listeners"`
	Peak      int    `json:"listener_peak"`
	Started   string `json:"stream_start_iso8601"`
}

// Mount is the path of the source's listen URL: "/main".
func (s Source) Mount() string {
	u, err := url.Parse(s.ListenURL)
	if err != nil {
		return ""
	}
	return u.Path
}

// Status is the server's report.
type Status struct {
	Server  string
	Started string
	Sources []Source
}

// Listeners is the audience over all mounts.
func (s Status) Listeners() int {
	n := 0
	for _, source := range s.Sources {
		n += source.Listeners
	}
	return n
}

// Source returns the source of a mount, given with or without its slash.
func (s Status) Source(mount string) (Source, bool) {
	for _, source := range s.Sources {
		if m := source.Mount(); m == mount || m == "/"+mount {
			return source, true
		}
	}
	return Source{}, false
}

// parseStatus reads status-json.xsl, where "source" is missing without any
// mount, an object for one and an array for several.
func parseStatus(body []byte) (Status, error) {
	var raw struct {
		Stats struct {
			Server  string          `json:"server_id"`
			Started string          `json:"server_start_iso8601"`
			Source  json.RawMessage `json:"source"`
		} `json:"icestats"`
	}
	if err := json.Unmarshal(mend(body), &raw); err != nil {
		return Status{}, fmt.Errorf("parse Icecast status: %w", err)
	}
	status := Status{Server: raw.Stats.Server, Started: raw.Stats.Started}
	var err error
	switch source := raw.Stats.Source; {
	case len(source) == 0 || string(source) == "null":
	case source[0] == '[':
		err = json.Unmarshal(source, &status.Sources)
	default:
		status.Sources = make([]Source, 1)
		err = json.Unmarshal(source, &status.Sources[0])
	}
	if err != nil {
		return Status{}, fmt.Errorf("parse Icecast status: source: %w", err)
	}
	// A mount with a fallback is listed without a source too.
	status.Sources = slices.DeleteFunc(status.Sources, func(s Source) bool { return s.Type == "" && s.Started == "" })
	return status, nil
}

// mend quotes the bare values that are no JSON. Icecast's stylesheet leaves the
// quotes off whatever looks like a number to it: a title "-" or "007" would
// make the whole page unreadable.
func mend(body []byte) []byte {
	out := make([]byte, 0, len(body)+16)
	inString := false
	for i := 0; i < len(body); i++ {
		c := body[i]
		out = append(out, c)
		switch {
		case inString && c == '\\' && i+1 < len(body):
			i++
			out = append(out, body[i])
		case c == '"':
			inString = !inString
		case c == ':' && !inString:
			end := i + 1
			for end < len(body) && !bytes.ContainsRune([]byte(`,}]"{[`), rune(body[end])) {
				end++
			}
			if bare := bytes.TrimSpace(body[i+1 : end]); len(bare) > 0 && !json.Valid(bare) {
				out = append(append(append(out, '"'), bare...), '"')
				i = end - 1
			}
		}
	}
	return out
}

// UnmarshalJSON reads a source as Icecast writes it: a title of digits comes
// as a number, because its stylesheet quotes only what does not look like one.
func (s *Source) UnmarshalJSON(b []byte) error {
	var raw map[string]any
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	text := func(key string) string {
		switch v := raw[key].(type) {
		case nil:
			return ""
		case string:
			return v
		default:
			return fmt.Sprint(v)
		}
	}
	number := func(key string) int {
		if v, ok := raw[key].(float64); ok {
			return int(v)
		}
		return 0
	}
	*s = Source{
		ListenURL: text("listenurl"), Type: text("server_type"), Name: text("server_name"),
		Title: text("title"), Artist: text("artist"), Started: text("stream_start_iso8601"),
		Bitrate: number("bitrate"), Listeners: number("listeners"), Peak: number("listener_peak"),
	}
	return nil
}

// maxStatus bounds what is read of a status page.
const maxStatus = 1 << 20

// ReadStatus reads the server's status. A server on another machine must already
// listen.
func ReadStatus(ctx context.Context, client *http.Client, o Options) (Status, error) {
	// Icecast 2.4.4 can crash on a connection that comes while it starts (13 of
	// 150 starts under a tight loop of them; none when LISTEN was waited for).
	if o.Host == "" && !port.Listening(o.Port) {
		return Status{}, fmt.Errorf("query Icecast: it does not listen on port %d: %w", o.Port, station.ErrUnavailable)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.address()+"/status-json.xsl", nil)
	if err != nil {
		return Status{}, fmt.Errorf("query Icecast: %w", err)
	}
	body, err := ask(client, req, maxStatus)
	if err != nil {
		return Status{}, fmt.Errorf("query Icecast: %w", err)
	}
	return parseStatus(body)
}

// ErrNoSource means that the server runs and no source feeds the mount.
var ErrNoSource = errors.New("no source is connected")

// Ready returns nil when the server answers.
func Ready(ctx context.Context, client *http.Client, o Options) error {
	_, err := ReadStatus(ctx, client, o)
	return err
}

// OnAir returns nil when the mount is fed, ErrNoSource when only the server runs.
func OnAir(ctx context.Context, client *http.Client, o Options) error {
	status, err := ReadStatus(ctx, client, o)
	if err != nil {
		return err
	}
	if _, ok := status.Source(o.mount()); !ok {
		return fmt.Errorf("mount %s: %w", o.mount(), ErrNoSource)
	}
	return nil
}
