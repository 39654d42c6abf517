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

	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/station"
)

// attempts per file (mission: Errors, media sync).
const attempts = 3

// manyLost files that stay away for reasons of the way, not their own, are taken
// for all.
const manyLost = 3

// file is one to be pulled.
type file struct {
	path, rel, version string
	size               int64  // negative when unknown
	etag               string // as last seen, of what is in the part
}

// lost is a failure that is the file's own: it stays away, the others come.
type lost struct{ err error }

func (l *lost) Error() string { return l.err.Error() }
func (l *lost) Unwrap() error { return l.err }

// final is a failure that another attempt does not mend.
type final struct{ err error }

func (f *final) Error() string { return f.err.Error() }
func (f *final) Unwrap() error { return f.err }

// parts is the folder of what is being pulled.
func (d *Depot) parts() string { return filepath.Join(d.opt.Dir, ".part") }

// part is where a file grows until it is whole.
func (d *Depot) part(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(d.parts(), hex.EncodeToString(sum[:16]))
}

// pull brings one file in at most three attempts. A file that stays away is
// logged and no error, unless it tells of all others.
func (d *Depot) pull(ctx context.Context, f file, room *room, sum *pulled) error {
	if f.version != delivery.AnyVersion {
		f.etag = `"` + f.version + `"`
	}
	var err error
	for n := 1; n <= attempts; n++ {
		if n > 1 {
			if wait(ctx, d.opt.Pause*time.Duration(n-1)) != nil {
				return nil //nolint:nilerr // whoever ended ctx knows
			}
		}
		var size int64
		size, err = d.once(ctx, &f, room)
		if err == nil {
			sum.got(size)
			return nil
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // whoever ended ctx knows
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

func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

var errStalled = errors.New("transfer stalled")

// once goes on where the part ends.
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
	if resp.StatusCode == http.StatusOK && have > 0 { // from the start again
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

// ask requests what is missing of a file.
func (d *Depot) ask(ctx context.Context, f *file, have int64) (*http.Response, error) {
	at := d.opt.Control + "/api/sync/media?as=air&rel=" + url.QueryEscape(f.rel) + "&token=" + url.QueryEscape(d.opt.Token)
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
		var in *url.Error // it shows the token
		if errors.As(err, &in) {
			err = in.Err
		}
		return nil, fmt.Errorf("request media file: %w", err)
	}
	switch {
	case resp.StatusCode == http.StatusOK,
		resp.StatusCode == http.StatusPartialContent && strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)):
		// What is not said to be that version never goes on the shelf under its name.
		if is := resp.Header.Get("ETag"); f.version == delivery.AnyVersion {
			f.etag = is
		} else if is != f.etag {
			_ = resp.Body.Close()
			return nil, &lost{fmt.Errorf("the control plane sent another version of the file: %s", is)}
		}
		return resp, nil
	}
	_ = resp.Body.Close()
	return nil, d.refusal(f, resp)
}

// refusal says what an answer without the file means.
func (d *Depot) refusal(f *file, resp *http.Response) error {
	err := fmt.Errorf("the control plane answered %s", resp.Status)
	switch resp.StatusCode {
	case http.StatusNotFound:
		return &final{&lost{fmt.Errorf("%w: %w", err, station.ErrNotFound)}}
	case http.StatusPreconditionFailed:
		return &final{&lost{fmt.Errorf("%w: the file has changed", err)}}
	case http.StatusRequestedRangeNotSatisfiable, http.StatusPartialContent:
		_ = os.Remove(d.part(f.path)) // longer than the file: begun of another
		return err
	case http.StatusUnauthorized, http.StatusForbidden:
		return &final{fmt.Errorf("%w: sync_token must be the same on both machines", err)}
	}
	return err
}

// shelve puts a whole file in its place; one that was there is replaced, and
// stays readable to whoever has it open.
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

// lively is a body that may not stall.
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
