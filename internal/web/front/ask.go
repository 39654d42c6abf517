package front

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/kit/held"
)

// mostAsked bounds what the control plane says of what a page shows, in bytes: an episode with all
// the chapters that one may have takes nearly 1 MiB.
const mostAsked = 2 << 20

// Ask asks the control plane for what a page that r asked for shows, on behalf of who asked, and
// reads the answer into what into points to. It returns the answer's status: http.StatusOK where
// into was read, http.StatusGatewayTimeout where the answer came too late or is none.
func Ask(r *http.Request, control http.Handler, path string, within time.Duration, into any) (status int) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	defer context.AfterFunc(r.Context(), cancel)()
	got := held.Ask(ctx, r, control, path, mostAsked)
	if got.Status == http.StatusOK && json.Unmarshal(got.Body.Bytes(), into) != nil {
		return http.StatusGatewayTimeout
	}
	return got.Status
}
