package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/athir-radio/athir/internal/live"
)

// quietNode is the node's live desk and WHIP server without a source: it takes orders,
// keeps nothing, and knows no phone.
type quietNode struct {
	mu    sync.Mutex
	order live.Order
}

func (n *quietNode) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	w := httptest.NewRecorder()
	answer := func(body any) { _ = json.NewEncoder(w).Encode(body) }
	switch r.Method + " " + r.URL.Path {
	case "PUT /order":
		if err := json.NewDecoder(r.Body).Decode(&n.order); err != nil {
			return nil, err
		}
		fallthrough
	case "GET /report":
		answer(live.Report{Version: n.order.Number + 1, Epoch: n.order.Epoch, Number: n.order.Number})
	case "PUT /carts":
		answer(live.Report{Version: n.order.Number + 1})
	case "POST /carts/fire":
		w.WriteHeader(http.StatusConflict) // nothing is live
	case "POST /carts/stop":
		answer(map[string]int{"stopped": 0})
	case "GET /sessions", "GET /recordings":
		answer([]int{})
	case "GET /whip-info":
		answer(map[string]bool{"live": false})
	default:
		http.NotFound(w, r)
	}
	return w.Result(), nil
}
