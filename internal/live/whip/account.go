package whip

import (
	"net/http"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/live"
)

// account tells a page whose key it has: what is sent of a session that names neither a
// show nor a presenter. It is refused as an offer is.
func (s *Server) account(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		notAllowed(w, "GET, OPTIONS")
		return
	}
	address := client.Address(r)
	if !within(w, s.looks, address, "too many questions from your address") {
		return
	}
	user, secret, ok := publisherKey(w, r)
	if !ok {
		return
	}
	a, ok := s.admit(w, r, live.Credentials{Protocol: live.WHIP, User: user, Secret: secret, Address: address, Look: true})
	if !ok {
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	answer(w, http.StatusOK, struct {
		Name string `json:"name"`
		Show string `json:"show"`
	}{words(a.Publisher.Name), words(a.Publisher.Show)})
}
