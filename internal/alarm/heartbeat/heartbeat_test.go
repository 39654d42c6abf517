package heartbeat

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// service notes in which second it was asked.
type service struct {
	began time.Time
	mu    sync.Mutex
	asked []int
	fail  error
}

func (s *service) Check(address string) (*url.URL, error) { return url.Parse(address) }
func (s *service) Send(_ context.Context, m fetch.Sending) (fetch.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, int(time.Since(s.began).Seconds()))
	if m.Method != http.MethodGet {
		return fetch.Answer{Status: http.StatusMethodNotAllowed}, nil
	}
	return fetch.Answer{Status: http.StatusOK}, s.fail
}

// It beats once a minute while all is well, never while it is not, and at once when it is
// well again; a service that does not answer changes nothing of that.
func TestItIsSilentWhileTheStationIsNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{began: time.Now(), fail: errors.New("away")}
		well := func(context.Context) string {
			if at := time.Since(s.began); at < 30*time.Second || at > 150*time.Second && at < 302*time.Second {
				return "silence"
			}
			return ""
		}
		log, lines := testkit.Log(t)
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Second)
		defer cancel()
		if err := Run(ctx, Options{Log: log, Sender: s, URL: "https://ping.example/secret-id", Well: well}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.asked, []int{30, 90, 150, 305, 365}) {
			t.Errorf("asked at %v", s.asked)
		}
		if lines.Count("held back") != 2 || lines.Count("not taken") != 1 || strings.Contains(lines.String(), "secret-id") {
			t.Errorf("the log:\n%s", lines)
		}
	})
}

// A real service: what it answers decides, and the address is not told.
func TestABeatIsAGETThatMustBeAnsweredWell(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/secret-id" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer s.Close()
	sender := fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	defer sender.Close()
	if err := Beat(t.Context(), sender, s.URL+"/secret-id"); err != nil {
		t.Error(err)
	}
	for code, remedy := range map[int]string{404: "alarms.heartbeat.url", 301: "leads to", 503: ""} {
		handled := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
		err := Beat(t.Context(), sender, handled.URL+"/secret-id")
		handled.Close()
		var f *alarm.Failure
		if !errors.As(err, &f) || !strings.Contains(f.Remedy, remedy) || strings.Contains(err.Error(), "secret-id") {
			t.Errorf("%d: %v", code, err)
		}
	}
}
