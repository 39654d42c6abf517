package icecast_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/station"
)

// server answers in place of Icecast.
type server func(req *http.Request) (*http.Response, error)

func (s server) RoundTrip(req *http.Request) (*http.Response, error) { return s(req) }

// page is a status page, or a listing of one listener for each mount.
func page(req *http.Request) *http.Response {
	body := `{"icestats":{"server_id":"Icecast"}}`
	if mount := req.URL.Query().Get("mount"); mount != "" {
		body = "<icestats><source><listener><ID>" + mount + "</ID></listener></source></icestats>"
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Request: req}
}

var far = icecast.Options{Host: "node", Port: 8005, Password: "secret"}

// Icecast may keep an answer to itself until it is asked the next question, as
// this server does with each first one.
func TestAnAnswerThatIsKeptBackIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		questions, next := atomic.Int64{}, make(chan struct{})
		c := &http.Client{Transport: server(func(req *http.Request) (*http.Response, error) {
			if questions.Add(1)%2 == 1 {
				<-next
			} else {
				next <- struct{}{}
			}
			return page(req), nil
		})}
		if s, err := icecast.ReadStatus(t.Context(), c, far); err != nil || s.Server != "Icecast" {
			t.Errorf("status: %+v, %v", s, err)
		}
		if list, err := icecast.Listeners(t.Context(), c, far); err != nil || len(list) != 2 {
			t.Errorf("listeners: %+v, %v", list, err)
		}
		if n := questions.Load(); n != 6 {
			t.Errorf("%d questions", n)
		}
	})
}

// A server that is slow is waited for: the first question is not given up for the
// second one. If the first fails, the second still counts.
func TestASlowAnswerCounts(t *testing.T) {
	for name, fails := range map[string]bool{"slow": false, "the first one fails": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin, questions := time.Now(), atomic.Int64{}
				c := &http.Client{Transport: server(func(req *http.Request) (*http.Response, error) {
					broken := questions.Add(1) == 1 && fails
					select {
					case <-time.After(2 * time.Second):
					case <-req.Context().Done():
						return nil, req.Context().Err()
					}
					if broken {
						return nil, errors.New("reset")
					}
					return page(req), nil
				})}
				s, err := icecast.ReadStatus(t.Context(), c, far)
				if err != nil || s.Server != "Icecast" {
					t.Errorf("status: %+v, %v", s, err)
				}
				want := 2 * time.Second
				if fails {
					want += 500 * time.Millisecond // the second was asked later
				}
				if took := time.Since(begin); took != want {
					t.Errorf("after %s, want %s", took, want)
				}
			})
		})
	}
}

// A server that refuses one more connection is full, which is not broken.
func TestARefusalIsAFullServer(t *testing.T) {
	c := &http.Client{Transport: server(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusForbidden, Status: "403 Forbidden", Body: http.NoBody, Request: req}, nil
	})}
	if _, err := icecast.ReadStatus(t.Context(), c, far); !errors.Is(err, station.ErrFull) || !strings.Contains(err.Error(), "icecast.max_clients") {
		t.Errorf("status: %v", err)
	}
	if _, err := icecast.Listeners(t.Context(), c, far); !errors.Is(err, station.ErrFull) {
		t.Errorf("listeners: %v", err)
	}
}

func TestNoAnswerIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &http.Client{Timeout: 3 * time.Second, Transport: server(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})}
		if _, err := icecast.ReadStatus(t.Context(), c, far); err == nil {
			t.Error("a status from a server that does not answer")
		}
	})
}
