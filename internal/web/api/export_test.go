package api

import (
	"net/http"

	"github.com/athir-radio/athir/internal/people"
)

// Row is one row of the endpoint table, as tests walk it.
type Row struct {
	Method, Path string
	BehindKey    bool // the guard of its row asks who somebody is
	Right        people.Right
	Compressed   bool
}

// Rows is the endpoint table.
func Rows() []Row {
	var out []Row
	for _, r := range (&Server{}).routes() {
		out = append(out, Row{r.method, r.path, r.guard.keyed(), r.guard.right(), r.compressible()})
	}
	return out
}

// NetworkTest serves network tests alone.
func NetworkTest() http.Handler {
	s := new(Server)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _ = s.networkTest(w, r) })
}
