package bridge_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"

	"github.com/bluenviron/gohlslib/v2/pkg/playlist"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// piece is a segment as a listener got it.
type piece struct {
	name  string
	at    time.Time
	until time.Time
	fresh bool // behind a discontinuity
	data  []byte
}

// listener follows the playlist as a player does.
type listener struct {
	base   string
	client *http.Client
	seen   map[string]bool
	pieces []piece
	head   []byte // what the playlist has a player load first
	early  uint64 // breaks heard before a fault: a relay that was held up in the burst has one
}

func newListener(t *testing.T, address string) *listener {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	l := &listener{base: "http://" + address + "/main/", client: &http.Client{Jar: jar, Transport: transport}, seen: map[string]bool{}}
	if _, err := l.get("index.m3u8"); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *listener) get(name string) ([]byte, error) {
	r, err := l.client.Get(l.base + name)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %d", name, r.StatusCode)
	}
	return body, err
}

// follow plays until the condition holds. Errors that a player retries by
// itself (connection refused, 5xx) are passed over, a 4xx is not.
func (l *listener) follow(t *testing.T, what string, until func() bool) {
	t.Helper()
	testkit.Eventually(t, what, func() bool {
		text, err := l.get("main_stream.m3u8")
		if err == nil {
			err = l.take(text)
		}
		if err != nil && strings.Contains(err.Error(), "status 4") {
			t.Fatalf("the listener was cut off: %v", err)
		}
		return until()
	})
}

func (l *listener) take(text []byte) error {
	var list playlist.Media
	if err := list.Unmarshal(text); err != nil {
		return err
	}
	if l.head == nil {
		head, err := l.get(list.Map.URI)
		if err != nil {
			return err
		}
		l.head = head
	}
	for _, s := range list.Segments {
		if l.seen[s.URI] {
			continue
		}
		data, err := l.get(s.URI)
		if err != nil {
			return err
		}
		l.seen[s.URI] = true
		l.pieces = append(l.pieces, piece{name: s.URI, at: *s.DateTime, until: s.DateTime.Add(s.Duration), fresh: s.Discontinuity, data: data})
	}
	return nil
}

// audio decodes everything the listener got, in one go.
func (l *listener) audio(t *testing.T) []heard {
	t.Helper()
	return listenTo(decode(t, bytes.NewReader(l.file()), "-f", "mp4", "-i", "pipe:0"))
}

// file is all of it as one file.
func (l *listener) file() []byte {
	all := bytes.Clone(l.head)
	for _, p := range l.pieces {
		all = append(all, p.data...)
	}
	return all
}

// lost is how much of the programme the listener never got.
func (l *listener) lost() time.Duration {
	sum := time.Duration(0)
	for i := 1; i < len(l.pieces); i++ {
		sum += max(0, l.pieces[i].at.Sub(l.pieces[i-1].until))
	}
	return sum
}

// length is how much audio the listener got.
func (l *listener) length() (sum time.Duration) {
	for _, p := range l.pieces {
		sum += p.until.Sub(p.at)
	}
	return sum
}

// breaks counts the discontinuities.
func (l *listener) breaks() (n uint64) {
	for _, p := range l.pieces {
		if p.fresh {
			n++
		}
	}
	return n
}
