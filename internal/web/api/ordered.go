package api

import (
	"encoding/json"
	"fmt"
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
	if r.Body != nil {
		r.Body = body
	}
	done := s.opt.People.Ordered(c, people.Order{Order: route, Target: target(op.Path, r), Address: client.Address(r)})
	status := http.StatusInternalServerError // of a handler that panics
	defer func() {
		done(status, body.detail(strings.HasPrefix(op.Path, "/api/account"), op.Metadata[keyIsName] != nil))
		level := slog.LevelInfo
		if status >= http.StatusBadRequest {
			level = slog.LevelWarn
		}
		s.opt.Log.Log(r.Context(), level, "station control", "route", route, "status", status, "from", from(r), "by", c.Who())
	}()
	next(ctx)
	status = ctx.Status()
}

// changesNothing marks the operations whose requests are no orders although they are no GET.
const changesNothing = "changes nothing"

// noOrder keeps the requests of a row out of the log of orders: they change nothing, and
// whoever may send them could fill it.
func noOrder(op *huma.Operation) { op.Metadata = map[string]any{changesNothing: true} }

// keyIsName marks the operations whose member key is the name of something, and opens nothing.
const keyIsName = "key is a name"

func namesKey(op *huma.Operation) { op.Metadata = map[string]any{keyIsName: true} }

// mostHeard is how much of a body is kept for the log of orders.
const mostHeard = 64 << 10

// overheard is a body that keeps the beginning of what is read from it.
type overheard struct {
	from  io.ReadCloser
	heard []byte
	bytes int
}

func (o *overheard) Read(p []byte) (int, error) {
	n, err := o.from.Read(p)
	o.bytes += n
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
	return []string{"password", "old", "secret", "token", "key", "keys", "state", "answer", "url", "urls", "headers", "auth", "p256dh"}
}

// detail is the body of an order for the log: without secrets, and short. Of what does not fit
// it has the members' names, or its length.
func (o *overheard) detail(account, named bool) string {
	var in map[string]any
	if o.bytes > len(o.heard) || json.Unmarshal(o.heard, &in) != nil {
		if o.bytes == 0 {
			return ""
		}
		return fmt.Sprintf("%d bytes", o.bytes)
	}
	if _, code := in["code"]; code && account { // elsewhere it is a reason
		in["code"] = "…"
	}
	if len(in) == 0 {
		return ""
	}
	key, keyed := in["key"].(string)
	discreet(in)
	if named && keyed {
		in["key"] = discreet(key)
	}
	out, err := json.Marshal(in)
	if err != nil || len(out) > longestDetail {
		for name := range in {
			in[name] = "…"
		}
		out, err = json.Marshal(in)
	}
	if err != nil || len(out) > longestDetail {
		return fmt.Sprintf("%d bytes", o.bytes)
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
