package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/station"
)

// hosts are servers in memory, by the address that leads to each.
type hosts map[string]*testkit.Network

func (h hosts) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return h[address].Dial(ctx, network, address)
}

// serve answers at an address.
func (h hosts) serve(t *testing.T, address string, answer http.HandlerFunc) string {
	t.Helper()
	h[address+":80"] = testkit.NewNetwork()
	s := httptest.NewUnstartedServer(answer)
	_ = s.Listener.Close()
	s.Listener = h[address+":80"]
	s.Start()
	t.Cleanup(s.Close)
	return "http://" + address
}

// wishes is a catalog of addresses.
type wishes []string

func (wishes) Singers() map[station.Category][]string { return nil }
func (w wishes) Queries() map[station.Category][]string {
	return map[station.Category][]string{station.English: w}
}

// One server sends a byte now and then, another stops in the middle: both are
// given up on, twice, and the run says so; who answers is not kept waiting.
func TestServersThatTrickleOrStopAreGivenUpAndTheOthersAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 300_000
		head := func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "audio/mpeg")
			w.Header().Set("Content-Length", fmt.Sprint(size))
			_, _ = io.WriteString(w, "ID3")
		}
		net := hosts{}
		trickling := net.serve(t, "127.0.0.2", func(w http.ResponseWriter, r *http.Request) {
			head(w)
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte{1})
				_ = http.NewResponseController(w).Flush()
				select {
				case <-r.Context().Done():
				case <-time.After(20 * time.Millisecond):
				}
			}
		})
		stopping := net.serve(t, "127.0.0.3", func(w http.ResponseWriter, r *http.Request) {
			head(w)
			_, _ = w.Write(make([]byte, size/2))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})
		good := net.serve(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, "ID3 the sound of %s", r.URL.Path)
		})
		var list wishes
		for _, base := range []string{trickling, stopping, good} {
			for i := range 4 {
				list = append(list, fmt.Sprintf("%s/%d.mp3", base, i))
			}
		}
		client := fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Dial: net.dial})
		r := newRig(t, func(o *Options) {
			o.Sources, o.Catalog, o.Stall = []source.Source{&source.Link{Client: client}}, list, 2*time.Second
		})
		res, err := r.Fetch(t.Context(), FetchRequest{Category: station.English, Target: 12}, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := res.Categories[station.English]
		if n.Added != 4 || n.Failed != 4 {
			t.Errorf("%+v", n)
		}
		said := func(parts ...string) (times int) {
			for _, p := range res.Problems {
				if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(p.Text, part) }) {
					times++
				}
			}
			return times
		}
		for _, host := range []string{"127.0.0.2", "127.0.0.3"} {
			if said(host, "given up: ", "2 s") != 2 || said("2 of english left for another run", "url ("+host+") was given up 2 times") != 1 {
				t.Errorf("%s: %+v", host, res.Problems)
			}
		}
		if said("127.0.0.3", "nothing came for 2 s") != 2 || len(res.Problems) != 6 {
			t.Errorf("%+v", res.Problems)
		}
	})
}

// hangs finds one candidate and then nothing, and fetches nothing, until it is
// told to end.
type hangs struct{ lister }

func (h *hangs) Search(ctx context.Context, w source.Want) ([]source.Candidate, error) {
	<-ctx.Done()
	return []source.Candidate{{Source: h.name, ID: "english/x", Category: w.Category}}, context.Cause(ctx)
}

func (h *hangs) Fetch(ctx context.Context, _ source.Candidate, _ string, _ func(done, total int64)) (source.Fetched, error) {
	<-ctx.Done()
	return source.Fetched{}, fmt.Errorf("fetch it: %w", context.Cause(ctx))
}

func TestASourceHasItsTimeAndTheOthersHaveTheirs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := feed("english/a", "english/b")
		r := newRig(t, func(o *Options) {
			o.Sources = []source.Source{&hangs{lister{name: source.NameArchive}}, l}
			o.SearchTime, o.SourceTime = 100*time.Millisecond, 2*time.Second
		})
		res, err := r.Fetch(t.Context(), FetchRequest{Category: station.English, Target: 3}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := res.Categories[station.English]; n.Added != 2 || n.Failed != 1 || n.Found != 3 {
			t.Errorf("%+v", n)
		}
		if text := fmt.Sprint(res.Problems); len(res.Problems) != 2 || !strings.Contains(text, "archive.org, english: given up: not done within 0.1 s") ||
			!strings.Contains(text, "archive.org has had its 2 s of this run") {
			t.Errorf("%s", text)
		}
	})
}

func TestAFetchMustComeAlong(t *testing.T) {
	t.Parallel()
	const window, slowest = time.Minute, 16 << 10
	for name, c := range map[string]struct {
		every time.Duration // a piece comes
		piece int64
		size  int64
		want  string
		after time.Duration
	}{
		"fast":                         {time.Second, 1 << 20, 50 << 20, "", 50 * time.Second},
		"slow, and worth it":           {time.Second, 17 << 10, 3 << 20, "", 181 * time.Second},
		"small, and done in the first": {50 * time.Second, 1000, 1000, "", 50 * time.Second},
		"nothing at all":               {2 * time.Minute, 1, 2, "nothing came for 60 s", time.Minute},
		"a trickle":                    {1700 * time.Millisecond, 1000, 1 << 20, "35000 bytes came in 60 s, the least is 16 kB a second", time.Minute},
		"it stops in the middle":       {59 * time.Second, 1 << 20, 1 << 30, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := brisk(t.Context(), window, slowest, func(ctx context.Context, progress func(done, total int64)) error {
					for have := int64(0); have < c.size; {
						pause := c.every
						if name == "it stops in the middle" && have > 0 {
							pause = time.Hour
						}
						select {
						case <-ctx.Done():
							return context.Cause(ctx)
						case <-time.After(pause):
						}
						have += c.piece
						progress(have, c.size)
					}
					return nil
				})
				if name == "it stops in the middle" {
					c.want, c.after = "nothing came for 60 s", 2*time.Minute
				}
				var late *slowError
				if took := time.Since(began); took != c.after || (err != nil) != (c.want != "") || err != nil && (!errors.As(err, &late) || late.why != c.want) {
					t.Errorf("%v after %s, want %q after %s", err, took, c.want, c.after)
				}
			})
		})
	}
}
