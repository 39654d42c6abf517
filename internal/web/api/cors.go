package api

import (
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/jub0bs/cors"
)

// everyone is the origin that stands for all.
const everyone = "*"

// preflightSeconds is how long a browser may remember what it was allowed.
const preflightSeconds = 600

// sharing lets pages of other origins use the rows of the table.
type sharing struct {
	open  *cors.Middleware // rows without a guard
	keyed *cors.Middleware // the others: never everyone
}

// share makes the middleware for the allowed origins. The settings were checked
// before: a wrong origin is a programming error.
func share(origins []string) sharing {
	named := slices.DeleteFunc(slices.Clone(origins), func(o string) bool { return o == everyone })
	out := sharing{open: crossOrigin(named), keyed: crossOrigin(named)}
	if len(named) < len(origins) {
		out.open = crossOrigin([]string{everyone})
	}
	return out
}

func crossOrigin(origins []string) *cors.Middleware {
	if len(origins) == 0 {
		return nil
	}
	m, err := cors.NewMiddleware(cors.Config{
		Origins: origins, Methods: []string{get, post, put, http.MethodDelete},
		RequestHeaders:  []string{"Authorization", "Content-Type", "X-Athir-Device", "X-Station-Key"},
		ResponseHeaders: []string{"ETag", "Location", "Retry-After"},
		MaxAgeInSeconds: preflightSeconds,
	})
	if err != nil {
		panic(err)
	}
	return m
}

// of returns the middleware of a row; nil where only our own pages may use it.
func (s sharing) of(r route) *cors.Middleware {
	switch {
	case r.sharesItself():
		return nil
	case r.guard == open:
		return s.open
	}
	return s.keyed
}

// sharesItself tells the rows of audio, which any page may play.
func (r route) sharesItself() bool { return r.path == "/stream" || r.path == "/stream/{channelId}" }

// crossing is the middleware of a row's sharing. It stands before guard and
// limit, so that a page can read their refusals too.
func crossing(m *cors.Middleware) huma.Middlewares {
	if m == nil {
		return nil
	}
	return huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		m.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { next(ctx) })).ServeHTTP(w, r)
	}}
}

// preflights answers what browsers ask before they send.
func preflights(mux *http.ServeMux, rows []route, s sharing, other http.Handler) {
	byPath := map[string]*cors.Middleware{}
	for _, r := range rows {
		// Where one method of a path has a guard, the path has.
		if _, known := byPath[r.path]; !known || r.guard != open {
			byPath[r.path] = s.of(r)
		}
	}
	for path, m := range byPath {
		if m != nil {
			mux.Handle(http.MethodOptions+" "+path, m.Wrap(other))
		}
	}
}
