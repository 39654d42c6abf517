package front

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/kit/held"
)

// mostAsked bounds what the control plane says of what a page shows, in bytes.
const mostAsked = 64 << 10

// Ask asks the control plane for what a page that r asked for shows, on behalf of who asked, and
// reads the answer into what into points to. False: there is none, or it came too late.
func Ask(r *http.Request, control http.Handler, path string, within time.Duration, into any) bool {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	defer context.AfterFunc(r.Context(), cancel)()
	got := held.Ask(ctx, r, control, path, mostAsked)
	return got.Status == http.StatusOK && json.Unmarshal(got.Body.Bytes(), into) == nil
}
