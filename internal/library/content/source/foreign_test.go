package source_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/station"
)

// book is a resolver that knows these names.
type book map[string]netip.Addr

func (b book) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return []netip.Addr{b[host]}, nil
}

// The networks of the operator are for what the operator has named: a feed from
// elsewhere leads to no device there, and one that is served there does.
func TestAFeedFromElsewhereDoesNotLeadIntoTheOperatorsNetworks(t *testing.T) {
	t.Parallel()
	const feed = `<rss version="2.0"><channel><title>x</title>
<item><title>device</title><guid>1</guid><enclosure url="http://192.168.1.1:8291/a.mp3" type="audio/mpeg"/></item>
<item><title>name</title><guid>2</guid><enclosure url="http://router.lan:8291/b.mp3" type="audio/mpeg"/></item>
<item><title>redirect</title><guid>3</guid><enclosure url="http://podcast.example/away.mp3" type="audio/mpeg"/></item></channel></rss>`
	web := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away.mp3":
			http.Redirect(w, r, "http://192.168.1.1:8291/c.mp3", http.StatusFound)
			return
		case "/out.mp3":
			http.Redirect(w, r, "http://podcast.example/c.mp3", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "application/rss+xml")
		_, _ = fmt.Fprint(w, feed)
	})
	var mu sync.Mutex
	var devices []string // of the operator's network, that were reached
	c := fetch.New(fetch.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("192.168.1.0/24")}, Attempts: 1, Whole: time.Minute,
		Resolver: book{
			"podcast.example": netip.MustParseAddr("8.8.8.8"), "feeds.lan": netip.MustParseAddr("192.168.1.9"), "router.lan": netip.MustParseAddr("192.168.1.1"),
		},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if strings.HasPrefix(address, "192.168.1.1:") {
				mu.Lock()
				defer mu.Unlock()
				devices = append(devices, address)
				return nil, errors.New("nobody is there")
			}
			return (&net.Dialer{}).DialContext(ctx, network, web.Listener.Addr().String())
		},
	})
	for _, k := range []struct {
		at      string
		reached []string
	}{
		{"http://podcast.example/feed", nil},
		{"http://feeds.lan:9123/feed", slices.Repeat([]string{"192.168.1.1:8291"}, 2)}, // not by way of a stranger
	} {
		devices = nil
		f := &source.Feeds{Client: c, Feeds: []source.Feed{{URL: k.at, Category: station.English}}}
		found, err := f.Search(t.Context(), source.Want{Category: station.English, Target: 9})
		if err != nil || len(found) != 3 {
			t.Fatalf("%s: %v, %v", k.at, found, err)
		}
		for _, item := range found {
			_, err := f.Fetch(t.Context(), item, t.TempDir(), nil)
			if blocked := errors.As(err, new(*fetch.BlockedError)); err == nil || blocked != (k.reached == nil || item.Title == "redirect") {
				t.Errorf("%s, %s: %v", k.at, item.Title, err)
			}
		}
		if !slices.Equal(devices, k.reached) {
			t.Errorf("%s: reaches %q, want %q", k.at, devices, k.reached)
		}
	} // An operator's link, too: what is named there is reached, and nothing by way of others.
	devices = nil
	link := &source.Link{Client: c}
	for address, words := range map[string]string{
		"http://router.lan:8291/b.mp3":    "nobody is there",
		"http://podcast.example/away.mp3": "elsewhere into private ones",
		"http://feeds.lan:9123/out.mp3":   "from the networks of your own elsewhere",
		"http://10.0.0.1/another-lan.mp3": "10.0.0.1",
	} {
		item, err := link.Candidate(address, station.English)
		if err == nil {
			_, err = link.Fetch(t.Context(), item, t.TempDir(), nil)
		}
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if !slices.Equal(devices, []string{"192.168.1.1:8291"}) {
		t.Errorf("links reach %q", devices)
	}
}
