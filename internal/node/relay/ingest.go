package relay

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/xml"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"sort"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Encoders publish rtmp://HOST:19350/live with the stream key
// NAME?password=SECRET. nginx asks here before it lets one in.
const (
	publishHook = "/rtmp/publish"
	doneHook    = "/rtmp/done"

	rtmpApp = "live"

	// Wrong passwords an address may try at once, and how often after that.
	wrongAtOnce = 5
	wrongEvery  = 10 * time.Second
	maxSuspects = 1024

	statEvery   = time.Second
	statTimeout = 2 * time.Second
	maxStat     = 4 << 20
)

var streamName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// ingest is the RTMP side: who may publish, and what is published. nginx's own
// statistics are the only record of the latter, so nothing has to be kept when
// the relay restarts while nginx goes on.
type ingest struct {
	password string
	stat     string
	log      *slog.Logger
	count    *counters
	nudge    chan struct{}

	mu       sync.Mutex
	live     []pathItem
	suspects map[string]*rate.Limiter
}

func newIngest(opts Options, count *counters) *ingest {
	return &ingest{
		password: opts.SourcePassword, stat: opts.StatAddress, log: opts.Log, count: count,
		nudge: make(chan struct{}, 1), suspects: map[string]*rate.Limiter{},
	}
}

// hookHandler answers nginx: 2xx lets the encoder in, anything else turns it away.
func (g *ingest) hookHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+publishHook, func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
		if err := r.ParseForm(); err != nil {
			refuse(w, http.StatusBadRequest, "cannot read the form")
			return
		}
		w.WriteHeader(g.decide(r.PostForm.Get("addr"), r.PostForm.Get("name"), presentedPassword(r), time.Now()))
		g.look()
	})
	mux.HandleFunc("POST "+doneHook, func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
		g.remove(rtmpApp + "/" + r.PostFormValue("name"))
		g.log.Info("encoder disconnected", "path", rtmpApp+"/"+r.PostFormValue("name"))
		w.WriteHeader(http.StatusNoContent)
		g.look()
	})
	return mux
}

// presentedPassword is the password, under any of the names in encoders' manuals.
func presentedPassword(r *http.Request) string {
	for _, name := range []string{"password", "pass", "key"} {
		if value := r.PostForm.Get(name); value != "" {
			return value
		}
	}
	return ""
}

// decide returns the HTTP status that admits or refuses an encoder at nginx.
func (g *ingest) decide(from, name, password string, now time.Time) int {
	suspect := g.suspect(from)
	if suspect.TokensAt(now) < 1 {
		g.count.rtmpLimit.Add(1)
		return http.StatusTooManyRequests
	}
	if !streamName.MatchString(name) || g.password == "" || !samePassword(password, g.password) {
		suspect.AllowN(now, 1)
		g.count.rtmpRefused.Add(1)
		g.log.Warn("encoder refused", "from", from, "name", strconv.Quote(name), "reason", g.reason(name))
		return http.StatusForbidden
	}
	g.count.rtmpAccepted.Add(1)
	g.log.Info("encoder accepted", "from", from, "path", rtmpApp+"/"+name)
	return http.StatusNoContent
}

func (g *ingest) reason(name string) string {
	switch {
	case !streamName.MatchString(name):
		return "name: want letters, digits, - and _, 64 at most"
	case g.password == "":
		return "no source password is set"
	}
	return "wrong password"
}

// samePassword compares in constant time, whatever the lengths.
func samePassword(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// suspect is the limit of an address on wrong passwords.
func (g *ingest) suspect(from string) *rate.Limiter {
	g.mu.Lock()
	defer g.mu.Unlock()
	limiter := g.suspects[from]
	if limiter == nil {
		for other := range g.suspects {
			if len(g.suspects) < maxSuspects {
				break
			}
			delete(g.suspects, other)
		}
		limiter = rate.NewLimiter(rate.Every(wrongEvery), wrongAtOnce)
		g.suspects[from] = limiter
	}
	return limiter
}

func (g *ingest) look() {
	select {
	case g.nudge <- struct{}{}:
	default:
	}
}

// follow keeps the list of what is published until ctx ends.
func (g *ingest) follow(ctx context.Context) error {
	if g.stat == "" {
		return nil
	}
	client := g.client()
	defer client.CloseIdleConnections()
	ticker := time.NewTicker(statEvery)
	defer ticker.Stop()
	for {
		items, err := g.read(ctx, client)
		if err != nil && ctx.Err() == nil {
			g.log.Debug("cannot read nginx statistics", "err", err) // nginx is down or starting: nothing is published
		}
		g.mu.Lock()
		g.live = items
		g.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		case <-g.nudge:
		}
	}
}

func (g *ingest) client() *http.Client {
	return &http.Client{
		Timeout: statTimeout,
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			network, where, err := splitAddress(g.stat)
			if err != nil {
				return nil, err
			}
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, where)
		}},
	}
}

func (g *ingest) read(ctx context.Context, client *http.Client) ([]pathItem, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://nginx/", nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("nginx answered status %d", response.StatusCode)
	}
	return parseStat(io.LimitReader(response.Body, maxStat), time.Now())
}

func (g *ingest) remove(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var rest []pathItem
	for _, item := range g.live {
		if item.Name != name {
			rest = append(rest, item)
		}
	}
	g.live = rest
}

func (g *ingest) items() []pathItem {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.live
}

// rtmpStat is nginx-rtmp's statistics page (ngx_rtmp_stat_module).
type rtmpStat struct {
	Apps []struct {
		Name    string       `xml:"name"`
		Streams []rtmpStream `xml:"live>stream"`
	} `xml:"server>application"`
}

type rtmpStream struct {
	Name       string    `xml:"name"`
	Age        int64     `xml:"time"` // milliseconds
	BytesIn    uint64    `xml:"bytes_in"`
	BytesOut   uint64    `xml:"bytes_out"`
	Publishing *struct{} `xml:"publishing"`
	Clients    []struct {
		ID         string    `xml:"id"`
		Publishing *struct{} `xml:"publishing"`
	} `xml:"client"`
	Audio struct {
		Codec    string `xml:"codec"`
		Channels int    `xml:"channels"`
		Rate     int    `xml:"sample_rate"`
	} `xml:"meta>audio"`
	Video struct {
		Codec string `xml:"codec"`
	} `xml:"meta>video"`
}

// parseStat turns the statistics into path items, sorted by name.
func parseStat(r io.Reader, now time.Time) ([]pathItem, error) {
	var stat rtmpStat
	if err := xml.NewDecoder(r).Decode(&stat); err != nil {
		return nil, fmt.Errorf("parse nginx statistics: %w", err)
	}
	var items []pathItem
	for _, app := range stat.Apps {
		for _, stream := range app.Streams {
			if stream.Publishing != nil {
				items = append(items, stream.item(app.Name, now))
			}
		}
	}
	sort.Slice(items, func(i, j int) bool { return items[i].Name < items[j].Name })
	return items, nil
}

func (s rtmpStream) item(app string, now time.Time) pathItem {
	item := pathItem{
		Name: app + "/" + s.Name, ConfName: "~^" + app + "/", Tracks: []string{}, Tracks2: []pathTrack{}, Readers: []pathPeer{},
		BytesReceived: s.BytesIn, BytesSent: s.BytesOut, InboundBytes: s.BytesIn, OutboundBytes: s.BytesOut,
	}
	item.setReady(true, now.Add(-time.Duration(s.Age)*time.Millisecond).UTC().Truncate(time.Second))
	if s.Audio.Codec != "" {
		codec := s.Audio.Codec
		if codec == "AAC" {
			codec = "MPEG-4 Audio"
		}
		item.Tracks = append(item.Tracks, codec)
		item.Tracks2 = append(item.Tracks2, audioTrackInfo(codec, s.Audio.Rate, s.Audio.Channels))
	}
	if s.Video.Codec != "" {
		item.Tracks = append(item.Tracks, s.Video.Codec)
		item.Tracks2 = append(item.Tracks2, pathTrack{Codec: s.Video.Codec})
	}
	for _, client := range s.Clients {
		peer := pathPeer{Type: "rtmpConn", ID: client.ID}
		if client.Publishing != nil {
			item.Source = &peer
		} else {
			item.Readers = append(item.Readers, peer)
		}
	}
	return item
}
