package fetch_test

import (
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/fetch"
)

// A key stays behind at a redirect to another origin; the refusal there is not the key's fault, and
// the remedy is the address that it leads to.
func TestAKeyThatStayedBehindAtARedirectIsSaid(t *testing.T) {
	code := http.StatusForbidden
	end := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") == "" {
			w.WriteHeader(code)
		}
	})
	begin := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/here" {
			w.WriteHeader(code)
			return
		}
		http.Redirect(w, r, end.URL+"/api?token=secret", http.StatusMovedPermanently)
	})
	key := http.Header{"X-API-Key": {"k"}}
	for _, c := range []struct {
		address string
		header  http.Header
		code    int
		origin  string
		remedy  string
	}{
		{begin.URL, key, http.StatusForbidden, end.URL, "give that address"},
		{begin.URL, key, http.StatusUnauthorized, end.URL, "give that address"},
		{begin.URL, nil, http.StatusForbidden, "", "requires a login"},
		{begin.URL + "/here", key, http.StatusForbidden, "", "requires a login"},
		{begin.URL, key, http.StatusNotFound, end.URL, "check the address"},
	} {
		code = c.code
		_, document := client(t).Document(t.Context(), fetch.Request{URL: c.address, Header: c.header})
		_, file := client(t).File(t.Context(), fetch.Request{URL: c.address, Header: c.header}, filepath.Join(t.TempDir(), "f"), nil)
		for _, err := range []error{document, file} {
			var status *fetch.StatusError
			if !errors.As(err, &status) || status.Code != c.code || status.Origin != c.origin || !strings.Contains(err.Error(), c.remedy) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%+v: %v", c, err)
			}
		}
	}
}
