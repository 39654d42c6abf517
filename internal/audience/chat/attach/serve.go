package attach

import (
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/station"
)

// stall is how long a client may take nothing before it is cut.
const stall = 20 * time.Second

// Serve answers with the file of that name, ranges included. Files never change, and
// headers keep browsers from guessing their type or running them. For an unknown name
// it writes nothing and returns station.ErrNotFound.
func (s *Store) Serve(w http.ResponseWriter, r *http.Request, name string) error {
	kind, ok := ParseName(name)
	if !ok {
		return fmt.Errorf("attachment: %w", station.ErrNotFound)
	}
	f, err := os.Open(s.path(name))
	if err != nil {
		return fmt.Errorf("attachment: %w", station.ErrNotFound)
	}
	defer f.Close() //nolint:errcheck // only read
	h := w.Header()
	h.Set("Content-Type", kind.MIME)
	h.Set("Cache-Control", "public, max-age=2592000, immutable")
	h.Set("ETag", `"`+name[:32]+`"`)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Content-Disposition", `inline; filename="`+name[:12]+"."+kind.Ext+`"`)
	http.ServeContent(deadline.Writer(w, stall), r, "", time.Time{}, f)
	return nil
}
