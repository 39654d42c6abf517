package depot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/station"
)

// attempts per file (mission: Errors, media sync).
const attempts = 3

// manyLost is how many files may fail for reasons that are not their own (the
// network, the server) before Fetch gives up on all.
const manyLost = 3

// file is one media file to pull.
type file struct {
	path, rel, version string
	size               int64  // negative when unknown
	etag               string // of the version that the part file holds
}

// lost marks a failure of this file alone: the others are still pulled.
type lost struct{ err error }

func (l *lost) Error() string { return l.err.Error() }
func (l *lost) Unwrap() error { return l.err }

// final marks a failure that another attempt cannot mend.
type final struct{ err error }

func (f *final) Error() string { return f.err.Error() }
func (f *final) Unwrap() error { return f.err }

// parts is the folder of unfinished files.
func (d *Depot) parts() string { return filepath.Join(d.opt.Dir, ".part") }

// part is the path of a file until it is complete.
func (d *Depot) part(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(d.parts(), hex.EncodeToString(sum[:16]))
}

// pull downloads one file in at most three attempts. A failure is logged; it is
// an error only if every other file would fail as well.
func (d *Depot) pull(ctx context.Context, f file, room *room, sum *pulled) error {
	if f.version != delivery.AnyVersion {
		f.etag = `"` + f.version + `"`
	}
	var err error
	for n := 1; n <= attempts; n++ {
		if n > 1 {
			if retry.Pause(ctx, d.opt.Pause*time.Duration(n-1)) != nil {
				return nil //nolint:nilerr // the caller ended ctx
			}
		}
		var size int64
		size, err = d.once(ctx, &f, room)
		if err == nil {
			sum.got(size)
			return nil
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the caller ended ctx
		}
		d.opt.Log.Warn("media file not pulled", "file", f.rel, "attempt", n, "err", err)
		if errors.As(err, new(*final)) {
			break
		}
	}
	own := errors.As(err, new(*lost))
	d.opt.Log.Error("media sync failed", "file", f.rel, "err", err)
	if n := sum.lost(); own || n < manyLost && !errors.As(err, new(*final)) {
		return nil
	}
	return err
}

var errStalled = errors.New("transfer stalled")

// once makes one attempt; it resumes where the part file ends.
func (d *Depot) once(ctx context.Context, f *file, room *room) (size int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	part, err := os.OpenFile(d.part(f.path), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return 0, &final{err}
	}
	defer func() { err = errors.Join(err, part.Close()) }()
	have, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, &final{err}
	}
	resp, err := d.ask(ctx, f, have)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()                           //nolint:errcheck // only read
	if resp.StatusCode == http.StatusOK && have > 0 { // the server sends the file from its start
		if have, err = 0, part.Truncate(0); err != nil {
			return 0, &final{err}
		}
		_, _ = part.Seek(0, io.SeekStart)
	}
	whole := f.size
	if resp.ContentLength >= 0 {
		if whole = have + resp.ContentLength; f.size >= 0 && whole != f.size {
			_ = part.Truncate(0)
			return 0, &lost{fmt.Errorf("file has %d bytes, want %d", whole, f.size)}
		}
	}
	need := max(0, whole-have)
	if err := room.take(need); err != nil {
		return 0, &final{err}
	}
	stall := time.AfterFunc(d.opt.Stall, func() { cancel(errStalled) })
	defer stall.Stop()
	n, err := io.Copy(part, &lively{resp.Body, stall, d.opt.Stall})
	if err != nil {
		room.back(need - n)
		if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
			err = cause
		}
		if errors.As(err, new(*os.PathError)) { // ours: the disk
			return 0, &final{err}
		}
		return 0, fmt.Errorf("transfer broke off after %d bytes: %w", have+n, err)
	}
	return have + n, d.shelve(f, part, have+n)
}

// ask requests the missing rest of a file.
func (d *Depot) ask(ctx context.Context, f *file, have int64) (*http.Response, error) {
	at := d.opt.Control + "/api/sync/media?as=air&rel=" + url.QueryEscape(f.rel) + "&token=" + url.QueryEscape(d.opt.Token.Current())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, &final{errors.New("request media file: bus.control is not a valid address")}
	}
	if f.version != delivery.AnyVersion {
		req.Header.Set("If-Match", f.etag)
	}
	if have > 0 && f.etag != "" {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		req.Header.Set("If-Range", f.etag)
	}
	resp, err := d.client.Do(req)
	if err != nil {
		var in *url.Error // its text holds the token
		if errors.As(err, &in) {
			err = in.Err
		}
		return nil, fmt.Errorf("request media file: %w", err)
	}
	switch {
	case resp.StatusCode == http.StatusOK,
		resp.StatusCode == http.StatusPartialContent && strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)):
		// A file without the expected ETag is never stored as this version.
		if etag := resp.Header.Get("ETag"); f.version == delivery.AnyVersion {
			f.etag = etag
		} else if etag != f.etag {
			_ = resp.Body.Close()
			return nil, &lost{fmt.Errorf("the control plane sent another version of the file: %s", etag)}
		}
		return resp, nil
	}
	_ = resp.Body.Close()
	return nil, d.refusal(f, resp)
}

// refusal turns an answer without the file into an error.
func (d *Depot) refusal(f *file, resp *http.Response) error {
	err := fmt.Errorf("the control plane answered %s", resp.Status)
	switch resp.StatusCode {
	case http.StatusNotFound:
		return &final{&lost{fmt.Errorf("%w: %w", err, station.ErrNotFound)}}
	case http.StatusPreconditionFailed:
		return &final{&lost{fmt.Errorf("%w: the file has changed", err)}}
	case http.StatusRequestedRangeNotSatisfiable, http.StatusPartialContent:
		_ = os.Remove(d.part(f.path)) // longer than the file: begun from another version
		return err
	case http.StatusUnauthorized, http.StatusForbidden:
		return &final{fmt.Errorf("%w: sync_token must be the same on both machines", err)}
	}
	return err
}

// shelve moves a complete file into place. A file that it replaces stays readable
// to a program that has it open.
func (d *Depot) shelve(f *file, part *os.File, size int64) error {
	if f.size >= 0 && size != f.size {
		_ = part.Truncate(0)
		return &lost{fmt.Errorf("file has %d bytes, want %d", size, f.size)}
	}
	if err := part.Sync(); err != nil {
		return &final{err}
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
		return &final{&lost{err}} // a name that this disk does not take
	}
	if err := os.Rename(part.Name(), f.path); err != nil {
		return &final{&lost{err}}
	}
	return nil
}

// lively is a body that restarts the stall timer with each read.
type lively struct {
	io.Reader
	timer *time.Timer
	stall time.Duration
}

func (l *lively) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	l.timer.Reset(l.stall)
	return n, err
}
