package pages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/face"
)

const (
	// lookEvery is how often a front asks whether the face has changed.
	lookEvery = 10 * time.Second
	// firstEvery is the same before it was ever told of one.
	firstEvery = 2 * time.Second
	// pullWithin bounds one look.
	pullWithin = 8 * time.Second
	// mostFace and mostFile bound what is taken, in bytes: a logo of 1024 × 512 pixels without
	// compression has 2 MiB.
	mostFace, mostFile = 256 << 10, 4 << 20
)

// Follower has the face in a process that serves pages and keeps nothing of the station: the
// last that the control plane told, also while that is away.
type Follower struct {
	log  *slog.Logger
	base string // "http://host:port" of the control plane
	ask  http.RoundTripper
	last atomic.Pointer[Dress]
	tag  string // of the face that last is; empty before the first
}

// NewFollower makes a follower of the control plane at an address. Until it has answered, the
// face is that of a station whose operator said nothing.
func NewFollower(log *slog.Logger, control string, ask http.RoundTripper, d face.Defaults) *Follower {
	return newFollower(log, control, ask, NewWardrobe(func() *face.State { return face.Plain(d) }).Now())
}

func newFollower(log *slog.Logger, control string, ask http.RoundTripper, first *Dress) *Follower {
	f := &Follower{log: log, base: "http://" + control, ask: ask}
	f.last.Store(first)
	return f
}

// Now is the face of now. It asks nobody.
func (f *Follower) Now() *Dress { return f.last.Load() }

// Run follows the face until ctx ends.
func (f *Follower) Run(ctx context.Context) error {
	failed := false
	for {
		err := f.Pull(ctx)
		if err != nil && ctx.Err() == nil && !failed {
			f.log.Info("cannot ask the control plane for the station's face, the last known is served", "err", err)
		}
		failed = err != nil
		wait := lookEvery
		if f.tag == "" {
			wait = firstEvery
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// Pull takes the face where it is another than before; all of it, or nothing. It is called by one
// at a time.
func (f *Follower) Pull(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pullWithin)
	defer cancel()
	got, err := f.get(ctx, facePath, f.tag, mostFace)
	if err != nil || got.status == http.StatusNotModified {
		return err
	}
	d := &Dress{files: map[string]*file{}}
	if err := json.Unmarshal(got.body, &d.face); err != nil {
		return fmt.Errorf("read the station's face: %w", err)
	}
	if !sound(&d.face) {
		return fmt.Errorf("read the station's face: %.100q is none", got.body)
	}
	d.text(facePath, "application/json", got.body)
	for _, path := range paths() {
		one, err := f.get(ctx, face.Address(path, d.face.Version), "", mostFile)
		switch {
		case err != nil:
			return err
		case one.status == http.StatusNotFound: // it has no logo, say
			continue
		}
		if added := d.add(path, one.contentType, one.body); len(one.body) > 0 && one.contentType != contentTypes[".png"] {
			added.gzip = zipped(one.body)
		}
	}
	if got.tag == "" {
		return fmt.Errorf("the control plane's %s has no tag", facePath)
	}
	// Files of another version than the face would be kept under its addresses.
	again, err := f.get(ctx, facePath, got.tag, mostFace)
	if err != nil {
		return err
	}
	if again.status != http.StatusNotModified {
		return errors.New("the face was changed meanwhile")
	}
	f.last.Store(d)
	f.tag = got.tag
	return nil
}

// sound reports whether pages can wear a face.
func sound(f *face.Face) bool {
	for i, l := range f.Languages {
		if l != face.Arabic && l != face.English || slices.Index(f.Languages, l) != i {
			return false
		}
	}
	return len(f.Languages) > 0
}

// taken is an answer of the control plane.
type taken struct {
	status           int
	tag, contentType string
	body             []byte
}

func (f *Follower) get(ctx context.Context, path, tag string, most int64) (taken, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.base+path, nil)
	if err != nil {
		return taken{}, err
	}
	if tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	answer, err := f.ask.RoundTrip(r)
	if err != nil {
		return taken{}, fmt.Errorf("ask for %s: %w", path, err)
	}
	defer answer.Body.Close() //nolint:errcheck // only read
	body, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	out := taken{answer.StatusCode, answer.Header.Get("ETag"), answer.Header.Get("Content-Type"), body}
	switch {
	case err != nil:
		return out, fmt.Errorf("read %s: %w", path, err)
	case int64(len(body)) > most:
		return out, fmt.Errorf("%s has more than %d bytes", path, most)
	case answer.StatusCode == http.StatusOK, answer.StatusCode == http.StatusNotModified && tag != "", answer.StatusCode == http.StatusNotFound && path != facePath:
		return out, nil
	}
	return out, fmt.Errorf("%s: %s", path, answer.Status)
}
