package apply_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/import/importtest"
	"github.com/athir-radio/athir/internal/import/model"
)

const uploadsPath = "/api/station/library/uploads/"

// through is a connection on which a test stands between the import and the station.
type through func(*http.Request) (*http.Response, error)

func (f through) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// holdBack kills a run at its n-th request of a method below a path and keeps that request: the
// station has it and has not begun with it.
func holdBack(t *testing.T, method, below string, n int, kill context.CancelFunc) (through, func() *http.Request) {
	t.Helper()
	var mu sync.Mutex
	var kept *http.Request
	return func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			if kept != nil {
				return nil, errKilled
			}
			if r.Method == method && strings.HasPrefix(r.URL.Path, below) {
				if n--; n == 0 {
					var body []byte
					if r.Body != nil {
						body, _ = io.ReadAll(r.Body)
					}
					kept = r.Clone(context.WithoutCancel(r.Context()))
					kept.Body = io.NopCloser(bytes.NewReader(body))
					kill()
					return nil, errKilled
				}
			}
			return http.DefaultTransport.RoundTrip(r)
		}, func() *http.Request {
			mu.Lock()
			defer mu.Unlock()
			return kept
		}
}

// A request of a run that was killed may reach the station after the next run has asked how far it
// is, and just before that one sends the same. All is there once, and what is said of it is not lost.
func TestWhatAKilledRunSentMayComeLate(t *testing.T) {
	const lists = "/api/station/playlists"
	for _, c := range []struct {
		method, below string
		times         int
	}{{http.MethodPatch, uploadsPath, 5}, {http.MethodPatch, "/api/station/library", 8}, {http.MethodPost, lists, 3}, {http.MethodPatch, lists, 2}, {http.MethodPut, lists, 1}, {http.MethodPost, "/api/people", 1}} {
		for n := 1; n <= c.times; n++ {
			t.Run(fmt.Sprint(c.method, c.below, n), func(t *testing.T) {
				s, dir := importtest.NewStation(t), t.TempDir()
				ctx, kill := context.WithCancel(t.Context())
				defer kill()
				first, kept := holdBack(t, c.method, c.below, n, kill)
				if _, _, err := run(ctx, t, s, small(), dir, first); err == nil {
					t.Fatal("the run was not killed")
				}
				late := kept()
				var once sync.Once
				came := false
				_, _, err := run(t.Context(), t, s, small(), dir, through(func(r *http.Request) (*http.Response, error) {
					if r.Method == late.Method && r.URL.Path == late.URL.Path {
						once.Do(func() {
							resp, err := http.DefaultTransport.RoundTrip(late)
							if err != nil || resp.StatusCode >= http.StatusBadRequest {
								t.Errorf("%v, %v", resp, err)
								return
							}
							came = true
							_ = resp.Body.Close()
						})
					}
					return http.DefaultTransport.RoundTrip(r)
				}))
				if err != nil || !came {
					t.Fatal(came, err)
				}
				whole(t, s)
			})
		}
	}
}

// An upload may be gone when its bytes come: it gave its place up, or was too old. It is made anew.
func TestAnUploadThatIsGoneIsMadeAgain(t *testing.T) {
	s := importtest.NewStation(t)
	var mu sync.Mutex
	gone := 0
	_, _, err := run(t.Context(), t, s, small(), t.TempDir(), through(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		first := r.Method == http.MethodPatch && strings.HasPrefix(r.URL.Path, uploadsPath) && gone < 5
		if first {
			gone++
		}
		mu.Unlock()
		if first {
			drop, err := http.NewRequestWithContext(r.Context(), http.MethodDelete, r.URL.String(), nil)
			if err != nil {
				return nil, err
			}
			drop.Header = http.Header{"Tus-Resumable": {"1.0.0"}, "X-Station-Key": {importtest.StationKey}}
			resp, err := http.DefaultTransport.RoundTrip(drop)
			if err != nil || resp.StatusCode != http.StatusNoContent {
				t.Errorf("%v, %v", resp, err)
				return resp, err
			}
			_ = resp.Body.Close()
		}
		return http.DefaultTransport.RoundTrip(r)
	}))
	if err != nil || gone != 5 {
		t.Fatal(gone, err)
	}
	whole(t, s)
}

// While a late request makes the upload, another with its key is refused. The key stays: with
// a new one the file could come twice.
func TestAKeyThatIsBeingUsedStays(t *testing.T) {
	s := importtest.NewStation(t)
	var mu sync.Mutex
	times := map[string]int{}
	_, _, err := run(t.Context(), t, s, small(), t.TempDir(), through(func(r *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || r.Method != http.MethodPost || r.URL.Path != uploadsPath {
			return resp, err
		}
		mu.Lock()
		defer mu.Unlock()
		key := r.Header.Get("Idempotency-Key")
		if times[key]++; times[key] == 1 {
			_ = resp.Body.Close()
			return &http.Response{StatusCode: http.StatusConflict, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(`{"detail":"an upload with this Idempotency-Key is being made: try again"}`))}, nil
		}
		return resp, nil
	}))
	if err != nil || len(times) != 5 {
		t.Fatalf("%d keys for 5 files, %v", len(times), err)
	}
	whole(t, s)
}

// A file that another one has replaced at the source since its upload began is another upload.
func TestAFileThatHasChangedIsUploadedAnew(t *testing.T) {
	song := func(data []byte) *model.Station {
		st := small()
		st.Playlists, st.Tracks = nil, st.Tracks[:1]
		st.Tracks[0].Size, st.Tracks[0].Open = int64(len(data)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		return st
	}
	s, dir := importtest.NewStation(t), t.TempDir()
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	first, _ := holdBack(t, http.MethodPatch, uploadsPath, 1, kill)
	if _, _, err := run(ctx, t, s, song(importtest.Tone(1, 1500)), dir, first); err == nil {
		t.Fatal("the run was not killed")
	}
	want := importtest.Tone(2, 2500)
	if _, _, err := run(t.Context(), t, s, song(want), dir, nil); err != nil {
		t.Fatal(err)
	}
	if len(s.Tracks) != 1 || !slices.Equal(s.Tracks[0].Data, want) || s.Tracks[0].Said["title"] != "Song 0" {
		t.Fatalf("%d tracks", len(s.Tracks))
	}
}

// The library takes a file and lists it a moment later. A run that is killed between the two, and
// the next one that plans before it is listed, lose nothing of it.
func TestAKillBeforeTheLibraryListsWhatItTook(t *testing.T) {
	late := func() *importtest.Station {
		s := importtest.NewStation(t)
		s.Late = 4
		return s
	}
	counting := &killer{left: 1 << 30}
	s := late()
	if _, _, err := run(t.Context(), t, s, small(), t.TempDir(), counting); err != nil {
		t.Fatal(err)
	}
	whole(t, s)
	for at := 1; at <= counting.count; at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			s, dir := late(), t.TempDir()
			ctx, kill := context.WithCancel(t.Context())
			defer kill()
			_, _, _ = run(ctx, t, s, small(), dir, &killer{left: at, after: true, kill: kill})
			if _, _, err := run(t.Context(), t, s, small(), dir, nil); err != nil {
				t.Fatal(err)
			}
			whole(t, s)
		})
	}
}
