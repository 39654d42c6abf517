package fetch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
)

// sound is 300 kB in which no two parts look alike.
func sound() []byte {
	b := make([]byte, 300_000)
	for i := range b {
		b[i] = byte(i * i >> 7)
	}
	return b
}

func download(t *testing.T, c *fetch.Client, r fetch.Request) (_ fetch.File, body []byte, _ error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	f, err := c.File(t.Context(), r, path, nil)
	body, missing := os.ReadFile(path)
	if (err == nil) != (missing == nil) {
		t.Errorf("error %v, but the file: %v", err, missing)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	return f, body, err
}

// isA fails the test unless err is of E's type, and says so if it stands for
// something lasting or not.
func isA[E error](t *testing.T, err error, wantLasting bool) (found E) {
	t.Helper()
	if !errors.As(err, &found) {
		t.Fatalf("got %T %v, want %T", err, err, found)
	}
	var l interface{ Lasting() bool }
	if got := errors.As(err, &l) && l.Lasting(); got != wantLasting {
		t.Errorf("%v: lasting %v", err, got)
	}
	return found
}

func TestAFileArrivesWholeWithItsNameAndProgress(t *testing.T) {
	t.Parallel()
	want := sound()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("User-Agent") != "athir/1.2.3" || r.Header.Get("Accept-Encoding") != "identity" || r.Header.Get("Referer") != "" || r.Header.Get("Cookie") != "" {
			t.Errorf("asked with %v", r.Header)
		}
		if r.URL.Path == "/start" {
			w.Header().Set("Set-Cookie", "a=b")
			http.Redirect(w, r, "/file?token=1", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "audio/mpeg")
		w.Header().Set("Content-Disposition", `attachment; filename*=UTF-8''%D8%A3%D8%BA%D9%86%D9%8A%D8%A9.mp3`)
		_, _ = w.Write(want)
	})
	var last, total int64
	path := filepath.Join(t.TempDir(), "song.mp3")
	if err := os.Symlink("/etc/passwd", path+".part"); err != nil { // must not be written through
		t.Fatal(err)
	}
	f, err := client(t).File(t.Context(), fetch.Request{URL: s.URL + "/start?token=1"}, path, func(done, all int64) {
		if done < last {
			t.Error("progress went back")
		}
		last, total = done, all
	})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	if !bytes.Equal(got, want) || f.Size != int64(len(want)) || f.Name != "أغنية.mp3" || f.Type != "audio/mpeg" || f.URL != s.URL+"/file?token=1" {
		t.Errorf("got %d bytes, %+v", len(got), f)
	}
	if last != f.Size || total != 0 && total != f.Size {
		t.Errorf("progress ended at %d of %d", last, total)
	}
}

func TestABrokenDownloadGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	want := sound()
	head := "HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\nETag: \"v1\"\r\nContent-Length: 300000\r\n\r\n"
	whole := func(c net.Conn) { _, _ = c.Write(append([]byte(head), want...)) }
	part := func(c net.Conn, from, to int, said string) {
		_, _ = fmt.Fprintf(c, "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes %s\r\nContent-Length: %d\r\n\r\n", said, to-from)
		_, _ = c.Write(want[from:to])
	}
	// The first connection always breaks after 100000 bytes.
	for name, later := range map[string]func(n int, request string, c net.Conn){
		"resumed": func(_ int, request string, c net.Conn) {
			if !strings.Contains(request, "\r\nRange: bytes=100000-\r\n") || !strings.Contains(request, "\r\nIf-Range: \"v1\"\r\n") {
				t.Errorf("asked %q", request)
			}
			part(c, 100_000, 300_000, "100000-299999/300000")
		},
		"resumed twice": func(n int, request string, c net.Conn) {
			if n == 2 {
				_, _ = fmt.Fprint(c, "HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Range: bytes 100000-299999/300000\r\nContent-Length: 200000\r\n\r\n")
				_, _ = c.Write(want[100_000:150_000])
				return
			}
			if !strings.Contains(request, "\r\nRange: bytes=150000-\r\n") {
				t.Errorf("asked %q", request)
			}
			part(c, 150_000, 300_000, "150000-299999/300000")
		},
		"the file changed, all of it comes": func(_ int, _ string, c net.Conn) { whole(c) },
		"a wrong range is thrown away": func(n int, request string, c net.Conn) {
			if n == 2 {
				part(c, 0, 300_000, "0-299999/300000")
				return
			}
			if strings.Contains(request, "Range") {
				t.Errorf("asked %q", request)
			}
			whole(c)
		},
		"a part without its range is thrown away": func(n int, _ string, c net.Conn) {
			if n == 2 {
				_, _ = fmt.Fprintf(c, "HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\n\r\nhello")
				return
			}
			whole(c)
		},
		"another size is thrown away": func(n int, _ string, c net.Conn) {
			if n == 2 {
				part(c, 100_000, 200_000, "100000-199999/200000")
				return
			}
			whole(c)
		},
		"416": func(n int, _ string, c net.Conn) {
			if n == 2 {
				_, _ = fmt.Fprint(c, "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\n\r\n")
				return
			}
			whole(c)
		},
		"a bad moment between": func(n int, _ string, c net.Conn) {
			if n == 2 {
				_, _ = fmt.Fprint(c, "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n")
				return
			}
			part(c, 100_000, 300_000, "100000-299999/300000")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := raw(t, func(n int, request string, c net.Conn) {
				if n > 1 {
					later(n, request, c)
					return
				}
				_, _ = fmt.Fprint(c, head)
				_, _ = c.Write(want[:100_000])
			})
			f, got, err := download(t, client(t), fetch.Request{URL: address + "/a.mp3"})
			if err != nil || !bytes.Equal(got, want) || f.Size != 300_000 {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
		})
	}
}

func TestADownloadThatCannotBeResumedStartsAnew(t *testing.T) {
	t.Parallel()
	want := sound()
	for name, header := range map[string]string{"no validator": "", "weak tag only": "ETag: W/\"a\"\r\n", "no ranges": "ETag: \"a\"\r\nAccept-Ranges: none\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := raw(t, func(n int, request string, c net.Conn) {
				if strings.Contains(request, "Range:") {
					t.Errorf("asked %q", request)
				}
				_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\n%sContent-Length: 300000\r\n\r\n", header)
				_, _ = c.Write(want[:100_000*n])
			})
			if _, got, err := download(t, client(t), fetch.Request{URL: address}); err != nil || !bytes.Equal(got, want) {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
		})
	}
}

func TestADownloadThatKeepsBreakingIsGivenUp(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	address := raw(t, func(_ int, _ string, c net.Conn) {
		tries.Add(1)
		_, _ = fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
	})
	_, _, err := download(t, client(t), fetch.Request{URL: address + "/a.mp3?secret"})
	if !errors.Is(err, io.ErrUnexpectedEOF) || tries.Load() != 3 || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), address+"/a.mp3") {
		t.Errorf("%d tries: %v", tries.Load(), err)
	}
}

func TestSizesAreBounded(t *testing.T) {
	t.Parallel()
	endless := func(head string) string {
		return raw(t, func(_ int, _ string, c net.Conn) {
			_, _ = fmt.Fprint(c, head)
			chunk := append([]byte("10000\r\n"), bytes.Repeat([]byte("x"), 1<<16)...)
			chunk = append(chunk, "\r\n"...)
			for {
				if _, err := c.Write(chunk); err != nil {
					return
				}
			}
		})
	}
	c := client(t)
	for name, address := range map[string]string{
		"endless chunks":  endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
		"endless, closed": endless("HTTP/1.0 200 OK\r\n\r\n"),
		"stated":          endless("HTTP/1.1 200 OK\r\nContent-Length: 1000001\r\n\r\n"),
	} {
		_, _, err := download(t, c, fetch.Request{URL: address, Limit: 1_000_000})
		e := isA[*fetch.TooLargeError](t, err, true)
		if (e.Size == 1_000_001) != (name == "stated") || !strings.Contains(e.Error(), "1.0 MB") {
			t.Errorf("%s: %+v %v", name, e, e)
		}
		_, err = c.Document(t.Context(), fetch.Request{URL: address, Limit: 1_000_000})
		isA[*fetch.TooLargeError](t, err, true)
	}
	// A body longer than its Content-Length is cut there.
	address := raw(t, func(_ int, _ string, c net.Conn) {
		_, _ = fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef")
	})
	if _, got, err := download(t, c, fetch.Request{URL: address}); err != nil || string(got) != "abc" {
		t.Errorf("%q %v", got, err)
	}
	// A header without end.
	address = raw(t, func(_ int, _ string, c net.Conn) {
		_, _ = fmt.Fprint(c, "HTTP/1.1 200 OK\r\nX: ")
		for {
			if _, err := c.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
				return
			}
		}
	})
	if _, _, err := download(t, c, fetch.Request{URL: address}); err == nil {
		t.Error("an endless header passes")
	}
}

func TestSilenceEndsARequest(t *testing.T) {
	t.Parallel()
	hang := func(sent string) string {
		return raw(t, func(_ int, _ string, c net.Conn) {
			_, _ = fmt.Fprint(c, sent)
			_, _ = c.Read(make([]byte, 1)) // until the client leaves
		})
	}
	for part, try := range map[string]struct {
		sent string
		set  func(*fetch.Options)
	}{
		"no answer within 50ms":                      {"", func(o *fetch.Options) { o.Header = 50 * time.Millisecond }},
		"no answer within 60ms":                      {"HTTP/1.1 200 OK\r\nConte", func(o *fetch.Options) { o.Header = 60 * time.Millisecond }},
		"the body stopped: nothing came within 50ms": {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", func(o *fetch.Options) { o.Idle = 50 * time.Millisecond }},
		"not done within 300ms":                      {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", func(o *fetch.Options) { o.Whole = 300 * time.Millisecond }},
	} {
		c := client(t, try.set, func(o *fetch.Options) { o.Attempts = 2 })
		address := hang(try.sent)
		_, _, err := download(t, c, fetch.Request{URL: address})
		if e := isA[*fetch.TimeoutError](t, err, false); !strings.Contains(e.Error(), part) || !strings.Contains(e.Error(), address) {
			t.Errorf("%s: %v", part, e)
		}
		_, err = c.Document(t.Context(), fetch.Request{URL: address})
		isA[*fetch.TimeoutError](t, err, false)
	}
	// Slow, but moving: a drip is bounded by the whole.
	drip := raw(t, func(_ int, _ string, c net.Conn) {
		_, _ = fmt.Fprint(c, "HTTP/1.0 200 OK\r\n\r\n")
		for {
			if _, err := c.Write([]byte("x")); err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	_, _, err := download(t, client(t, func(o *fetch.Options) { o.Whole = 300 * time.Millisecond }), fetch.Request{URL: drip})
	if e := isA[*fetch.TimeoutError](t, err, false); !strings.Contains(e.Error(), "not done") {
		t.Error(e)
	}
}

func TestACancelledDownloadEndsAtOnceAndLeavesNothing(t *testing.T) {
	t.Parallel()
	address := raw(t, func(_ int, _ string, c net.Conn) {
		_, _ = fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
		_, _ = c.Read(make([]byte, 1))
	})
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	_, err := client(t).File(ctx, fetch.Request{URL: address}, filepath.Join(dir, "a"), func(int64, int64) { cancel() })
	if left, _ := os.ReadDir(dir); !errors.Is(err, context.Canceled) || len(left) > 0 {
		t.Errorf("%v, left %v", err, left)
	}
	// A wait for the next try ends as well.
	ctx, cancel = context.WithCancel(t.Context())
	busy := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		cancel()
	})
	if _, err := client(t, func(o *fetch.Options) { o.Backoff = time.Hour }).Document(ctx, fetch.Request{URL: busy.URL}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestABusyServerIsAskedAgainAsItWishes(t *testing.T) {
	t.Parallel()
	for _, try := range []struct {
		code    int
		after   string
		asked   int32
		lasting bool
	}{
		{429, "", 3, false}, {503, "0", 3, false}, {500, "", 3, false}, {502, "soon", 3, false}, {503, "3600", 1, false},
		{429, time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), 1, false},
		{404, "", 1, true}, {410, "", 1, true}, {403, "", 1, true}, {401, "", 1, true}, {204, "", 1, true}, {206, "", 1, true}, {304, "", 1, true}, {300, "", 1, true},
	} {
		var asked atomic.Int32
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			if try.after != "" {
				w.Header().Set("Retry-After", try.after)
			}
			w.WriteHeader(try.code)
		})
		_, _, err := download(t, client(t), fetch.Request{URL: s.URL})
		e := isA[*fetch.StatusError](t, err, try.lasting)
		if e.Code != try.code || asked.Load() != try.asked || (e.RetryAfter > time.Minute) != (try.asked == 1 && try.after != "") {
			t.Errorf("%d %q: asked %d times: %+v", try.code, try.after, asked.Load(), e)
		}
	}
}

func TestInspectSeesTheBeginningAndMayRefuseTheRest(t *testing.T) {
	t.Parallel()
	refuse := func(want int) func([]byte, http.Header) error {
		return func(head []byte, h http.Header) error {
			if len(head) != want || h.Get("Content-Type") != "text/html" {
				t.Errorf("saw %d bytes, %v", len(head), h)
			}
			return errors.New("this is a page, not a sound")
		}
	}
	for size, seen := range map[int]int{10: 10, 4096: 4096, 300_000: 4096} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write(bytes.Repeat([]byte("x"), size))
		})
		_, _, err := download(t, client(t), fetch.Request{URL: s.URL + "/p?secret", Inspect: refuse(seen)})
		if e := isA[*fetch.ContentError](t, err, true); e.Error() != "not usable "+s.URL+"/p: this is a page, not a sound" {
			t.Error(e)
		}
	}
	empty := serve(t, func(http.ResponseWriter, *http.Request) {})
	_, _, err := download(t, client(t), fetch.Request{URL: empty.URL})
	isA[*fetch.ContentError](t, err, true)
	packed := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write([]byte("x"))
	})
	_, _, err = download(t, client(t), fetch.Request{URL: packed.URL})
	isA[*fetch.ContentError](t, err, true)
}

func TestAMissingFolderIsNotedBeforeAnythingIsAskedFor(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { asked.Add(1); _, _ = w.Write(sound()) })
	_, err := client(t).File(t.Context(), fetch.Request{URL: s.URL}, filepath.Join(t.TempDir(), "missing", "a"), nil)
	if !errors.Is(err, os.ErrNotExist) || asked.Load() > 0 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}
