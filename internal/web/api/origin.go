package api

import "net/http"

// OriginNamed returns which other origins may connect to the events: those that the
// settings name. "*" allows none here, because events also reach what needs the
// station key.
func OriginNamed(origins []string) func(origin string) bool {
	named := share(origins).keyed
	if named == nil {
		return func(string) bool { return false }
	}
	h := named.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	return func(origin string) bool {
		w := headers{}
		h.ServeHTTP(w, &http.Request{Method: http.MethodGet, Header: http.Header{"Origin": {origin}}})
		return http.Header(w).Get("Access-Control-Allow-Origin") != ""
	}
}

// headers is an http.ResponseWriter that keeps only the header.
type headers http.Header

func (h headers) Header() http.Header       { return http.Header(h) }
func (headers) Write(p []byte) (int, error) { return len(p), nil }
func (headers) WriteHeader(int)             {}
