package api

import (
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/jub0bs/cors"
)

// everyone is the origin that allows all.
const everyone = "*"

// preflightSeconds is how long a browser may cache the answer to a preflight.
const preflightSeconds = 600

// sharing lets pages of other origins use the rows of the table.
type sharing struct {
	open  *cors.Middleware // for rows without a guard
	keyed *cors.Middleware // for all others: never allows everyone
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

// middleware returns that of a row; nil if only the station's pages may use the row.
func (s sharing) middleware(r route) *cors.Middleware {
	switch {
	case r.sharesItself():
		return nil
	case r.guard == open:
		return s.open
	}
	return s.keyed
}

// sharesItself reports whether a row is audio, which any page may play.
func (r route) sharesItself() bool { return r.path == "/stream" || r.path == "/stream/{channelId}" }

// crossing adapts a row's CORS middleware to huma. It runs before guard and limit, so
// that a page can read their refusals too.
func crossing(m *cors.Middleware) huma.Middlewares {
	if m == nil {
		return nil
	}
	return huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		m.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { next(ctx) })).ServeHTTP(w, r)
	}}
}

// preflights registers the CORS preflight of each row.
func preflights(mux *http.ServeMux, rows []route, s sharing, other http.Handler) {
	byPath := map[string]*cors.Middleware{}
	for _, r := range rows {
		// A path with one guarded method counts as guarded.
		if _, known := byPath[r.path]; !known || r.guard != open {
			byPath[r.path] = s.middleware(r)
		}
	}
	for path, m := range byPath {
		if m != nil {
			mux.Handle(http.MethodOptions+" "+path, m.Wrap(other))
		}
	}
}
