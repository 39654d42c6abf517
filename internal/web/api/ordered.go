package api

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/people"
)

// carryOut carries an order out, and writes who gave it: into the log of orders before and
// after, and into the station's own log.
func (s *Server) carryOut(ctx huma.Context, r *http.Request, c people.Caller, next func(huma.Context)) {
	op := ctx.Operation()
	route := op.Method + " " + op.Path
	body := &overheard{from: r.Body}
	if r.Body != nil && strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		r.Body = body
	}
	done := s.opt.People.Ordered(r.Context(), c, people.Order{Order: route, Target: target(op.Path, r), Address: client.Address(r)})
	next(ctx)
	done(ctx.Status(), detail(body.heard))
	level := slog.LevelInfo
	if ctx.Status() >= http.StatusBadRequest {
		level = slog.LevelWarn
	}
	s.opt.Log.Log(r.Context(), level, "station control", "route", route, "status", ctx.Status(), "from", from(r), "by", c.Who())
}

// mostHeard is how much of a body is kept for the log of orders.
const mostHeard = 64 << 10

// overheard is a body that keeps the beginning of what is read from it.
type overheard struct {
	from  io.ReadCloser
	heard []byte
}

func (o *overheard) Read(p []byte) (int, error) {
	n, err := o.from.Read(p)
	o.heard = append(o.heard, p[:min(n, mostHeard-len(o.heard))]...)
	return n, err
}

func (o *overheard) Close() error { return o.from.Close() }

// target is what the path of an order names.
func target(pattern string, r *http.Request) string {
	var names []string
	for _, part := range strings.Split(pattern, "/") {
		if name, begins := strings.CutPrefix(part, "{"); begins {
			names = append(names, r.PathValue(strings.TrimSuffix(name, "}")))
		}
	}
	text := []rune(strings.Join(names, " "))
	return string(text[:min(len(text), longestTarget)])
}

const (
	longestTarget = 200
	longestValue  = 300 // characters of one value
	longestDetail = 4 << 10
	mostOfList    = 20
)

// secrets are the members of orders that open something, or may: addresses of webhooks and
// streams hold passwords. The log has that they were there.
func secrets() []string {
	return []string{"password", "old", "secret", "code", "token", "key", "keys", "state", "answer", "url", "urls", "headers", "auth", "p256dh"}
}

// detail is the body of an order for the log: without secrets, and short. Of what does not fit
// it has the members' names.
func detail(body []byte) string {
	var in map[string]any
	if json.Unmarshal(body, &in) != nil || len(in) == 0 {
		return ""
	}
	out, err := json.Marshal(discreet(in))
	if err != nil || len(out) > longestDetail {
		for name := range in {
			in[name] = "…"
		}
		out, err = json.Marshal(in)
	}
	if err != nil || len(out) > longestDetail {
		return ""
	}
	return string(out)
}

func discreet(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = discreet(value)
			if slices.Contains(secrets(), strings.ToLower(name)) {
				v[name] = "…"
			}
		}
	case []any:
		if len(v) > mostOfList {
			v = append(v[:mostOfList:mostOfList], "…")
		}
		for i := range v {
			v[i] = discreet(v[i])
		}
		return v
	case string:
		if text := []rune(v); len(text) > longestValue {
			return string(text[:longestValue]) + "…"
		}
	}
	return v
}
