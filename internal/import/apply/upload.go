package apply

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/flate"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"sync"

	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/import/plan"
	"github.com/athir-radio/athir/internal/kit/fetch"
)

const (
	uploads      = "/api/station/library/uploads/"
	intakeHeader = "X-Intake-Id"
	longestPart  = 250 // characters of a file's name
)

// source is a file on its way: what is read again from the beginning where it must be.
type source struct {
	open func() (io.ReadCloser, error)
	r    io.ReadCloser
	at   int64
	size int64
	temp string

	mu     sync.Mutex
	failed error // the first fault of reading it
}

// newSource takes a reader that is open, and learns how large the file is; where nothing says, from
// a copy in a temporary folder.
func newSource(t *model.Track, r io.ReadCloser, temp string) (*source, error) {
	s := &source{open: t.Open, r: r, size: t.Size}
	if seeker, ok := r.(io.Seeker); ok {
		n, err := seeker.Seek(0, io.SeekEnd)
		if err == nil {
			_, err = seeker.Seek(0, io.SeekStart)
		}
		if err != nil {
			return nil, err
		}
		s.size = n
		return s, nil
	}
	if s.size > 0 {
		return s, nil
	}
	f, err := os.CreateTemp(temp, "athir-import-*")
	if err != nil {
		return nil, err
	}
	s.temp = f.Name()
	s.size = math.MaxInt64 // not known yet: what there is
	s.size, err = io.Copy(f, s)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	err = cmp.Or(s.fault(), err)
	_ = r.Close()
	if s.r, s.at = f, 0; err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// from brings the reader to an offset.
func (s *source) from(offset int64) (io.Reader, error) {
	if seeker, ok := s.r.(io.Seeker); ok {
		_, err := seeker.Seek(offset, io.SeekStart)
		s.at = offset
		return s, s.faulty(err)
	}
	if s.at > offset {
		_ = s.r.Close()
		r, err := s.open()
		if err != nil {
			return nil, s.faulty(err)
		}
		s.r, s.at = r, 0
	}
	_, err := io.CopyN(io.Discard, s, offset-s.at)
	return s, cmp.Or(s.fault(), err)
}

// Read implements io.Reader. Its faults are kept: the sending of a body reports them as its own,
// like those of the way to the station.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.at += int64(n)
	if errors.Is(err, io.EOF) && s.at < s.size && s.size != math.MaxInt64 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return n, s.faulty(err)
	}
	return n, err
}

// faulty keeps the first fault of reading the file.
func (s *source) faulty(err error) error {
	if err == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = &unreadError{err}
	}
	return s.failed
}

func (s *source) fault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// anew forgets a fault: the file is read anew.
func (s *source) anew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = nil
}

// unreadError is a fault of a file of the source, not of the way to the station.
type unreadError struct{ err error }

func (e *unreadError) Error() string { return "its file cannot be read there: " + e.err.Error() }
func (e *unreadError) Unwrap() error { return e.err }

// lacking reports a file that is not there, or is damaged: no other try brings it. Of a download
// that breaks off another may.
func (e *unreadError) lacking() bool {
	var answer *fetch.StatusError
	if errors.As(e.err, &answer) {
		return answer.Code == http.StatusNotFound || answer.Code == http.StatusGone
	}
	var away *url.Error
	var broken flate.CorruptInputError
	var inside flate.InternalError
	if errors.As(e.err, &away) || errors.As(e.err, new(net.Error)) {
		return false
	}
	for _, one := range []error{fs.ErrNotExist, fs.ErrInvalid, io.EOF, io.ErrUnexpectedEOF, zip.ErrChecksum, zip.ErrFormat, zip.ErrAlgorithm, tar.ErrHeader} {
		if errors.Is(e.err, one) {
			return true
		}
	}
	return errors.As(e.err, &broken) || errors.As(e.err, &inside)
}

func (e *unreadError) words() plan.Words {
	return plan.Words{En: "Its file cannot be read there: " + e.err.Error(), Ar: "تعذّرت قراءة ملفه من المصدر: " + e.err.Error()}
}

func (s *source) close() {
	_ = s.r.Close()
	if s.temp != "" {
		_ = os.Remove(s.temp)
	}
}

// upload brings one file to the library's intake and returns the arrival that it became. It goes
// on where an earlier run was.
func (a *applier) upload(ctx context.Context, t *plan.Track, s *source) (arrival string, err error) {
	at, conflict := "", false
	err = a.again(ctx, func() (err error) {
		s.anew()
		defer func() {
			if err != nil {
				err = cmp.Or(s.fault(), err)
			}
		}()
		key, known := a.journal.upload(t)
		if arrival = known; known != "" {
			return nil
		}
		if key == "" {
			key = rand.Text()
			if err := a.journal.note(entry{Kind: kindUpload, ID: t.ID, From: t.Source(), Key: key}); err != nil {
				return err
			}
		}
		resp, err := a.station.send(ctx, http.MethodPost, uploads, a.creation(t, s.size, key), nil)
		var refused *Refused
		if errors.As(err, &refused) && refused.Status == http.StatusConflict && refused.Words == nil {
			// A late request may be making the upload with this key just now. Where the answer
			// is the same again, the file has changed since: it is another upload.
			if conflict = !conflict; conflict {
				return errAgain
			}
			if err := a.journal.note(entry{Kind: kindUpload, ID: t.ID, From: t.Source(), Key: rand.Text()}); err != nil {
				return err
			}
			return errAgain
		}
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if at, err = located(resp); err != nil {
			return err
		}
		arrival, err = a.bytes(ctx, at, s, resp)
		return err
	})
	return arrival, err
}

var errAgain = errors.New("the station changes meanwhile what the import works on: start it again")

// moved has an upload asked for again that changed or went after it was asked for: what a run
// that was killed, or a try whose connection broke, had sent may reach it only then. That says
// nothing of the file.
func moved(err error) error {
	var refused *Refused
	if errors.As(err, &refused) && refused.Words == nil {
		switch refused.Status {
		case http.StatusConflict, http.StatusNotFound, http.StatusGone:
			return errAgain
		}
	}
	return err
}

// body is what of a source one request sends. The transport may go on reading after the answer;
// once it is closed nothing is read, so that the next request has the source to itself.
type body struct {
	mu     sync.Mutex
	r      io.Reader
	closed bool
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, os.ErrClosed
	}
	return b.r.Read(p)
}

// Close implements io.Closer. The source stays open.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}

// located is the path of the upload that was made.
func located(resp *http.Response) (string, error) {
	u, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || u.Path == "" {
		return "", errors.New("the station names no place for an upload: is it an Athir of this version?")
	}
	return u.Path, nil
}

func tus() http.Header { return http.Header{"Tus-Resumable": {"1.0.0"}} }

// creation is what is said of a file: its folder says where it lay, and its category is chosen.
func (a *applier) creation(t *plan.Track, size int64, key string) http.Header {
	pair := func(name, value string) string {
		return name + " " + base64.StdEncoding.EncodeToString([]byte(value))
	}
	h := tus()
	h.Set("Upload-Length", strconv.FormatInt(size, 10))
	h.Set("Idempotency-Key", key)
	meta := pair("filename", clipped(path.Base(t.From))) + "," + pair("batch", a.batch) + "," + pair("category", string(t.Category))
	if folder := path.Dir(t.From); folder != "." {
		meta += "," + pair("folder", clip(folder, 900))
	}
	h.Set("Upload-Metadata", meta)
	return h
}

// clipped keeps a name's ending.
func clipped(name string) string {
	ext := path.Ext(name)
	return clip(name[:len(name)-len(ext)], longestPart-len(ext)) + ext
}

func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}

// bytes sends what of a file the station lacks, until it has all of it.
func (a *applier) bytes(ctx context.Context, at string, s *source, answer *http.Response) (string, error) {
	offset, _ := strconv.ParseInt(answer.Header.Get("Upload-Offset"), 10, 64)
	for {
		if id := answer.Header.Get(intakeHeader); id != "" {
			return id, nil
		}
		if offset < s.size {
			r, err := s.from(offset)
			if err != nil {
				return "", err
			}
			rest := &body{r: io.LimitReader(r, s.size-offset)}
			h := tus()
			h.Set("Content-Type", "application/offset+octet-stream")
			h.Set("Upload-Offset", strconv.FormatInt(offset, 10))
			answer, err = a.station.send(ctx, http.MethodPatch, at, h, rest)
			_ = rest.Close()
			if err != nil {
				return "", moved(err)
			}
		} else {
			var err error
			if answer, err = a.station.send(ctx, http.MethodHead, at, tus(), nil); err != nil {
				return "", moved(err)
			}
		}
		_ = answer.Body.Close()
		had := offset
		offset, _ = strconv.ParseInt(answer.Header.Get("Upload-Offset"), 10, 64)
		if answer.Header.Get(intakeHeader) == "" && offset == had {
			return "", errors.New("the station has all of a file and does not take it in")
		}
	}
}
