package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
)

const fileLimit = 512 << 20

// headSize is how much of a file Request.Inspect sees.
const headSize = 4 << 10

// File is what became of a download.
type File struct {
	Size int64  // bytes
	Type string // Content-Type, as stated
	Name string // as the server proposes it, not clean; often empty
	URL  string // where it came from in the end, after redirects
}

// File downloads to path, which appears whole or not at all: until then the body
// is in path + ".part". A download that breaks off goes on where it stopped, if
// the server can prove that the file is still the same one. progress may be nil;
// total is 0 while unknown.
func (c *Client) File(ctx context.Context, r Request, path string, progress func(done, total int64)) (File, error) {
	u, err := c.Check(r.URL)
	if err != nil {
		return File{}, err
	}
	if r.Limit <= 0 {
		r.Limit = fileLimit
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	part := path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return File{}, fmt.Errorf("remove an old download: %w", err)
	}
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o640)
	if err != nil {
		return File{}, fmt.Errorf("create download: %w", err)
	}
	d := &download{c: c, r: r, u: u, f: f, progress: progress}
	err = c.persist(ctx, u, d.try)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part)
		return File{}, err
	}
	d.file.Size = d.have
	return d.file, nil
}

// download is one file on its way, over one or more tries.
type download struct {
	c        *Client
	r        Request
	u        *url.URL
	f        *os.File
	progress func(done, total int64)

	have, total int64  // bytes; total 0 while unknown
	same        string // what If-Range proves the file by; empty: start anew
	head        []byte
	inspected   bool
	file        File
}

func (d *download) try(ctx context.Context) error {
	header := d.r.header()
	header.Set("Accept-Encoding", "identity")
	if d.have > 0 && d.same != "" {
		header.Set("Range", "bytes="+strconv.FormatInt(d.have, 10)+"-")
		header.Set("If-Range", d.same)
	}
	resumed := header.Get("Range") != ""
	return d.c.once(ctx, d.u, header, func(answer *http.Response) error {
		if err := d.answered(answer, resumed); err != nil {
			return err
		}
		return d.read(answer)
	})
}

// answered decides by an answer's header what its body is.
func (d *download) answered(answer *http.Response, resumed bool) error {
	switch {
	case answer.StatusCode == http.StatusOK:
		return d.begin(answer)
	case answer.StatusCode == http.StatusPartialContent && resumed:
		return d.resume(answer)
	case answer.StatusCode == http.StatusRequestedRangeNotSatisfiable && resumed:
		return d.anew("it does not have the rest of the file")
	}
	return statusError(answer)
}

// begin forgets what came before and takes the whole file from this answer.
func (d *download) begin(answer *http.Response) error {
	shown := redact(answer.Request.URL)
	if e := answer.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return &ContentError{URL: shown, Why: "it is compressed in a way that was not requested"}
	}
	if answer.ContentLength > d.r.Limit {
		return &TooLargeError{URL: shown, Limit: d.r.Limit, Size: answer.ContentLength}
	}
	if _, err := d.f.Seek(0, io.SeekStart); err != nil {
		return local{err}
	}
	if err := d.f.Truncate(0); err != nil {
		return local{err}
	}
	d.have, d.total, d.head, d.inspected = 0, max(0, answer.ContentLength), nil, false
	d.same = validator(answer.Header)
	d.file = File{Type: answer.Header.Get("Content-Type"), URL: answer.Request.URL.String()}
	if _, p, err := mime.ParseMediaType(answer.Header.Get("Content-Disposition")); err == nil {
		d.file.Name = p["filename"]
	}
	return nil
}

// validator is what proves that a file is still the same: a strong entity tag,
// else its date (RFC 9110, 13.1.5).
func validator(h http.Header) string {
	if strings.EqualFold(h.Get("Accept-Ranges"), "none") {
		return ""
	}
	if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return h.Get("Last-Modified")
}

// resume checks that a partial answer goes on where this download stopped.
func (d *download) resume(answer *http.Response) error {
	var from, to, size int64
	stated := answer.Header.Get("Content-Range")
	if n, _ := fmt.Sscanf(stated, "bytes %d-%d/%d", &from, &to, &size); n != 3 ||
		from != d.have || to != size-1 || d.total > 0 && size != d.total {
		return d.anew("it sent a different part from the one requested")
	}
	if size > d.r.Limit {
		return &TooLargeError{URL: redact(answer.Request.URL), Limit: d.r.Limit, Size: size}
	}
	d.total = size
	return nil
}

// anew makes the next try begin at the beginning.
func (d *download) anew(why string) error {
	d.same = ""
	return fmt.Errorf("fetch %s: the server cannot resume the download: %s", redact(d.u), why)
}

func (d *download) read(answer *http.Response) error {
	shown := redact(answer.Request.URL)
	buf := make([]byte, 64<<10)
	for {
		n, err := answer.Body.Read(buf)
		if n > 0 {
			if failed := d.take(buf[:n], answer); failed != nil {
				return failed
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return d.end(answer, shown)
		case err != nil:
			return err
		}
	}
}

// take writes what came and shows the beginning to Inspect.
func (d *download) take(b []byte, answer *http.Response) error {
	if d.have+int64(len(b)) > d.r.Limit {
		return &TooLargeError{URL: redact(answer.Request.URL), Limit: d.r.Limit}
	}
	if d.total > 0 && d.have+int64(len(b)) > d.total { // a partial answer that goes on too long
		return d.anew("it sent more than it announced")
	}
	if _, err := d.f.Write(b); err != nil {
		return local{fmt.Errorf("write download: %w", err)}
	}
	d.have += int64(len(b))
	if !d.inspected {
		d.head = append(d.head, b[:min(len(b), headSize-len(d.head))]...)
		if len(d.head) == headSize {
			if err := d.inspect(answer); err != nil {
				return err
			}
		}
	}
	d.progress(d.have, d.total)
	return nil
}

func (d *download) inspect(answer *http.Response) error {
	d.inspected = true
	if d.r.Inspect == nil {
		return nil
	}
	err := d.r.Inspect(d.head, answer.Header)
	if err == nil {
		return nil
	}
	return &ContentError{URL: redact(answer.Request.URL), Why: err.Error()}
}

func (d *download) end(answer *http.Response, shown string) error {
	switch {
	case d.total > 0 && d.have < d.total:
		return fmt.Errorf("fetch %s: the transfer broke off after %s of %s: %w", shown, megabytes(d.have), megabytes(d.total), io.ErrUnexpectedEOF)
	case d.have == 0:
		return &ContentError{URL: shown, Why: "it is empty"}
	case !d.inspected:
		return d.inspect(answer)
	}
	return nil
}
