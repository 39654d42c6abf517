package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/station"
)

// Recordings are those of the node.
type Recordings struct {
	http.RoundTripper
	// Piece is how much one answer may hold, in bytes, where the way there bounds them;
	// 0: all of it.
	Piece int64
	Clock *Clock
}

// Recording is one of them, as the node tells. Times are epoch milliseconds.
type Recording struct {
	Name       string `json:"name"`
	Title      string `json:"title"`
	Presenter  string `json:"presenter"`
	StreamID   string `json:"streamId"`
	Began      int64  `json:"began"`
	Ended      int64  `json:"ended"` // 0: under way
	DurationMS int64  `json:"durationMs"`
	Bytes      int64  `json:"bytes"`
	Problem    string `json:"problem"`
	// Interrupted: the node's desk ended, not the broadcast, which may go on in it.
	Interrupted bool     `json:"interrupted"`
	Listeners   *float64 `json:"listeners"`
	// MostListeners is how many listened at once; with Listeners.
	MostListeners int `json:"mostListeners"`
}

// mostPage bounds one answer to List, in bytes, mostPages how many there are.
const mostPage, mostPages = 192 << 10, 100

// List has the newest first.
func (r Recordings) List(ctx context.Context) ([]Recording, error) {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	most := int64(mostPage)
	if r.Piece > 0 {
		most = min(most, r.Piece)
	}
	out := []Recording{}
	ask := url.Values{"most": {strconv.FormatInt(most, 10)}}
	for range mostPages {
		var page []Recording
		if err := call(ctx, r, http.MethodGet, "http://node/recordings?"+ask.Encode(), nil, nil, &page); err != nil {
			return nil, err
		}
		if len(page) == 0 || len(out) > 0 && page[0].Name == out[0].Name { // a node that knows no pages
			break
		}
		out = append(out, page...)
		last := page[len(page)-1]
		ask.Set("name", last.Name)
		ask.Set("began", strconv.FormatInt(last.Began, 10))
	}
	for i := range out {
		out[i].Began, out[i].Ended = r.Clock.Here(out[i].Began), r.Clock.Here(out[i].Ended)
	}
	return out, nil
}

// Delete removes one for good.
func (r Recordings) Delete(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	return call(ctx, r, http.MethodDelete, "http://node/recordings/"+url.PathEscape(name), nil, nil, nil)
}

// SetListeners tells how many heard what one has recorded, on average and at most.
func (r Recordings) SetListeners(ctx context.Context, name string, average float64, most int) error {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	return call(ctx, r, http.MethodPut, "http://node/recordings/"+url.PathEscape(name)+"/listeners", nil, map[string]any{"average": average, "most": most}, nil)
}

// Title is what the source of a recording said of what it played from a place in the file on.
type Title struct {
	AtMS    int64  `json:"atMs"`
	Title   string `json:"title"`
	Creator string `json:"creator"`
}

// Titles has them in their order. A node of a version that keeps none answers as for a recording
// that is not there: the error is of kind station.ErrNotFound.
func (r Recordings) Titles(ctx context.Context, name string) (all []Title, err error) {
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	err = call(ctx, r, http.MethodGet, "http://node/recordings/"+url.PathEscape(name)+"/titles", nil, nil, &all)
	return all, err
}

// Fetch asks for the bytes of one, with the ranges and conditions of h; the caller closes
// the body. The error is of kind station.ErrNotFound or station.ErrUnavailable.
func (r Recordings) Fetch(ctx context.Context, name string, h http.Header) (*http.Response, error) {
	if r.Piece > 0 {
		return r.fetchPieces(ctx, name, h.Get("Range"))
	}
	return r.get(ctx, name, h)
}

func (r Recordings) get(ctx context.Context, name string, h http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://node/recordings/"+url.PathEscape(name), http.NoBody)
	if err != nil {
		return nil, err
	}
	if h != nil {
		req.Header = h.Clone()
	}
	resp, err := r.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("fetch recording: %w: %w", err, station.ErrUnavailable)
	}
	if resp.StatusCode == http.StatusNotFound {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("recording %.80q: %w", name, station.ErrNotFound)
	}
	return resp, nil
}

// fetchPieces is Fetch where each answer is bounded: the body asks for the next piece as it
// is read.
func (r Recordings) fetchPieces(ctx context.Context, name, asked string) (*http.Response, error) {
	first, last, ok := oneRange(asked)
	probe, err := r.get(ctx, name, http.Header{"Range": {"bytes=0-0"}})
	if err != nil {
		return nil, err
	}
	_ = probe.Body.Close()
	_, total, _ := strings.Cut(probe.Header.Get("Content-Range"), "/")
	size, err := strconv.ParseInt(total, 10, 64)
	if err != nil {
		return probe, nil //nolint:nilerr // an empty file, or a refusal: the answer says so
	}
	out := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": probe.Header["Content-Type"], "Accept-Ranges": {"bytes"}}}
	if last < 0 || last >= size {
		last = size - 1
	}
	if ok && first <= last {
		out.StatusCode = http.StatusPartialContent
		out.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, size))
	} else {
		first, last = 0, size-1
	}
	out.ContentLength = last - first + 1
	out.Header.Set("Content-Length", strconv.FormatInt(out.ContentLength, 10))
	out.Body = &pieces{ctx: ctx, from: r, name: name, at: first, last: last}
	return out, nil
}

// oneRange reads "bytes=FIRST-LAST" or "bytes=FIRST-"; last is -1 where it is left out.
func oneRange(text string) (first, last int64, ok bool) {
	spec, isBytes := strings.CutPrefix(text, "bytes=")
	from, to, found := strings.Cut(spec, "-")
	if !isBytes || !found {
		return 0, -1, false
	}
	first, err := strconv.ParseInt(from, 10, 64)
	if err != nil || first < 0 {
		return 0, -1, false
	}
	if to == "" {
		return first, -1, true
	}
	last, err = strconv.ParseInt(to, 10, 64)
	return first, last, err == nil && last >= first
}

// pieces is a body that comes in several answers.
type pieces struct {
	ctx      context.Context //nolint:containedctx // of the request that the body belongs to
	from     Recordings
	name     string
	at, last int64
	now      io.ReadCloser
}

func (p *pieces) Read(b []byte) (int, error) {
	for {
		if p.now == nil {
			if p.at > p.last {
				return 0, io.EOF
			}
			resp, err := p.from.get(p.ctx, p.name, http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", p.at, min(p.last, p.at+p.from.Piece-1))}})
			if err != nil {
				return 0, err
			}
			if resp.StatusCode != http.StatusPartialContent {
				_ = resp.Body.Close()
				return 0, fmt.Errorf("fetch recording: the node answers %d to a range: %w", resp.StatusCode, station.KindOf(resp.StatusCode))
			}
			p.now = resp.Body
		}
		n, err := p.now.Read(b)
		p.at += int64(n)
		if err != nil {
			_ = p.now.Close()
			p.now = nil
			if !errors.Is(err, io.EOF) {
				return n, err
			}
			if n == 0 {
				continue
			}
		}
		return n, nil
	}
}

func (p *pieces) Close() error {
	if p.now != nil {
		return p.now.Close()
	}
	return nil
}

// Save writes a recording into a folder, whole or not at all, under a name that is not
// taken, and returns that.
func (r Recordings) Save(ctx context.Context, name, dir, as string) (path string, err error) {
	resp, err := r.Fetch(ctx, name, nil)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("fetch recording: the node answers %d: %w", resp.StatusCode, station.KindOf(resp.StatusCode))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make folder: %w", err)
	}
	part, err := os.CreateTemp(dir, ".live-*.part")
	if err != nil {
		return "", fmt.Errorf("save recording: %w", err)
	}
	defer os.Remove(part.Name()) //nolint:errcheck // it has another name by then
	_, err = io.Copy(part, resp.Body)
	if err = errors.Join(err, part.Sync(), part.Close()); err != nil {
		return "", fmt.Errorf("save recording: %w", err)
	}
	ext := filepath.Ext(as)
	for n := 1; ; n++ {
		path = filepath.Join(dir, as)
		if n > 1 {
			path = filepath.Join(dir, strings.TrimSuffix(as, ext)+" ("+strconv.Itoa(n)+")"+ext)
		}
		if err = os.Link(part.Name(), path); !errors.Is(err, os.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("save recording: %w", err)
	}
	return path, os.Chmod(path, 0o644)
}
