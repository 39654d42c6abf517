package whip

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/athir-radio/athir/internal/live"
)

// Inner is what the node and the control plane use, on a Unix socket.
//
//	GET    /sessions            live.Session of each
//	POST   /sessions/{id}/hold  it feeds the pipe from now on
//	DELETE /sessions/{id}?why=  it ends, and its page is told why
func (s *Server) Inner() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sessions", func(w http.ResponseWriter, _ *http.Request) {
		out := []live.Session{}
		for _, one := range s.all() {
			out = append(out, one.report())
		}
		slices.SortFunc(out, func(a, b live.Session) int {
			return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.ID, b.ID))
		})
		answer(w, http.StatusOK, out)
	})
	mux.HandleFunc("POST /sessions/{id}/hold", func(w http.ResponseWriter, r *http.Request) {
		one := s.byID(r.PathValue("id"))
		if one == nil {
			refuse(w, http.StatusNotFound, problem{Detail: "there is no such session"})
			return
		}
		if !s.feed.handed(one.id) {
			refuse(w, http.StatusConflict, problem{Detail: "this session has no audio yet"})
			return
		}
		s.seated("")
		answer(w, http.StatusOK, one.report())
	})
	mux.HandleFunc("DELETE /sessions/{id}", func(w http.ResponseWriter, r *http.Request) {
		one := s.byID(r.PathValue("id"))
		if one == nil {
			refuse(w, http.StatusNotFound, problem{Detail: "there is no such session"})
			return
		}
		one.end(endedKicked, cmp.Or(r.URL.Query().Get("why"), "ended by the studio"))
		answer(w, http.StatusOK, struct{}{})
	})
	return mux
}

func (s *Server) byID(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have left
}
