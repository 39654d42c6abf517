package wire

import (
	"context"
	"net/http"
)

// Feed asks the WHIP server's /whip-info whether a feed flows (mission: Live takeover). The
// error is of kind station.ErrUnavailable: a server that does not answer has none.
func (p Phones) Feed(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	var info struct {
		Live bool `json:"live"`
	}
	err := call(ctx, p, http.MethodGet, "http://node/whip-info", nil, nil, &info)
	return info.Live, err
}
