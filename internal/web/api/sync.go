package api

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/station"
)

// Files are what a broadcast node on another machine pulls.
type Files struct {
	Media    string // root of the media library
	Playlist string // the rotation file
	// Air returns where the file lies that airs for a registered track: the file of
	// the library itself, or its mastered copy. False for what is not registered.
	Air func(rel string) (folder, name string, ok bool)
}

// syncStall is how long a node may take nothing of a file.
const syncStall = 30 * time.Second

// syncFile documents the rows of media sync: http.ServeContent answers them, with
// ranges and conditions.
func syncFile(op *huma.Operation) {
	asks("query", "token", "The SYNC_TOKEN", huma.Schema{Type: huma.TypeString})(op)
	for _, status := range []int{http.StatusOK, http.StatusPartialContent} {
		gives(status, "*/*")(op)
	}
	gives(http.StatusNotModified)(op)
	gives(http.StatusPreconditionFailed)(op)
	gives(http.StatusRequestedRangeNotSatisfiable, "text/plain")(op)
	may(http.StatusUnauthorized, http.StatusNotFound, http.StatusTooManyRequests)(op)
}

func syncPath(op *huma.Operation) {
	asks("query", "rel", "Path below the media root", huma.Schema{Type: huma.TypeString})(op)
	asks("query", "as", "air: what airs for it, mastered", huma.Schema{Type: huma.TypeString, Enum: []any{"air"}})(op)
	may(http.StatusUnprocessableEntity)(op)
}

// token admits the SYNC_TOKEN of the query (mission: Authentication). A wrong one
// counts as a guess, apart from those at the station key: a node pulls its media from
// an address whose other users must not be able to keep it out.
func (s *Server) token(w http.ResponseWriter, r *http.Request) error {
	admitted := false
	err := s.tokens.TakeIf(client.Address(r), func() bool {
		admitted = s.opt.SyncToken.Matches(r.URL.Query().Get("token"))
		return !admitted
	})
	if err == nil && !admitted {
		w.Header().Set("WWW-Authenticate", engineOnly.realm())
		err = fmt.Errorf("send the SYNC_TOKEN as token: %w", station.ErrUnauthentic)
	}
	return err
}

// syncMedia serves one file of the library, whole or in ranges; with as=air, the file
// that airs for it.
func (s *Server) syncMedia(w http.ResponseWriter, r *http.Request) error {
	if err := s.token(w, r); err != nil {
		return err
	}
	rel := r.URL.Query().Get("rel")
	if rel == "" || !filepath.IsLocal(rel) {
		return fmt.Errorf("rel: must be a path below the media root: %w", station.ErrInvalid)
	}
	folder, name := s.opt.Files.Media, rel
	if r.URL.Query().Get("as") == "air" {
		var registered bool
		if folder, name, registered = s.opt.Files.Air(rel); !registered {
			return fmt.Errorf("%q on air: %w", cut(rel), station.ErrNotFound)
		}
	}
	f, err := openPlain(folder, name)
	return serveFile(w, r, f, err, rel)
}

// openPlain opens a regular file of a folder. A link may not lead out of the folder.
// A pipe or a device is not opened: that could wait for ever, or do something.
func openPlain(folder, name string) (*os.File, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only read
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	// It may have become a pipe since.
	return root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// syncM3U serves the rotation file.
func (s *Server) syncM3U(w http.ResponseWriter, r *http.Request) error {
	if err := s.token(w, r); err != nil {
		return err
	}
	f, err := os.Open(s.opt.Files.Playlist)
	w.Header().Set("Content-Type", "audio/x-mpegurl")
	w.Header().Set("Cache-Control", "no-store")
	return serveFile(w, r, f, err, "main.m3u")
}

// serveFile answers with a regular file. Its ETag is made of size and time, so that
// an interrupted pull resumes only in the same file.
func serveFile(w http.ResponseWriter, r *http.Request, f *os.File, err error, name string) error {
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = station.ErrNotFound
		} else {
			err = fmt.Errorf("open: %w: %w", err, station.ErrNotFound)
		}
		return fmt.Errorf("%q: %w", cut(name), err)
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%q: %w", cut(name), station.ErrNotFound)
	}
	w.Header().Set("ETag", `"`+delivery.Version(info)+`"`)
	http.ServeContent(deadline.Writer(w, syncStall), r, filepath.Base(name), info.ModTime(), f)
	return nil
}
