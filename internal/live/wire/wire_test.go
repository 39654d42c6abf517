package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/athir-radio/athir/internal/kit/secret"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/wire"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// What the node's processes ask reaches the control plane with the token, and a refusal
// keeps its kind and its words.
func TestTheControlPlaneIsAskedWithTheTokenAndRefusesInWords(t *testing.T) {
	refuse := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("x-sync-token") != "sesame" {
			t.Errorf("%s without the token", r.URL)
		}
		if refuse != 0 {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(refuse)
			_, _ = io.WriteString(w, `{"title":"Refused","detail":"the show is over"}`)
			return
		}
		switch r.Method + " " + r.URL.Path {
		case "POST /api/live/admit":
			var who live.Credentials
			if err := json.NewDecoder(r.Body).Decode(&who); err != nil || who.User != "sara" || who.Secret != "s" {
				t.Errorf("credentials %+v, %v", who, err)
			}
			_, _ = io.WriteString(w, `{"allowed":true,"publisher":{"id":"sara","auto":true}}`)
		case "POST /api/live/arrived":
			_, _ = io.WriteString(w, `{"id":"LIVE0000abcd"}`)
		case "POST /api/live/left":
			_, _ = io.WriteString(w, `{}`)
		case "POST /api/live/roll":
			var roll live.Roll
			if err := json.NewDecoder(r.Body).Decode(&roll); err != nil || roll.Protocol != live.RTMP || len(roll.Senders) != 1 {
				t.Errorf("roll %+v, %v", roll, err)
			}
			_, _ = io.WriteString(w, `{"streams":{"`+roll.Senders[0].Session+`":"LIVE0000abcd"},"refused":{"t":"revoked"}}`)
		case "GET /api/live/facts":
			_, _ = io.WriteString(w, `{"allowed":true,"state":"`+r.URL.Query().Get("publisher")+`"}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c := wire.Control{Base: srv.URL, Token: secret.Of("sesame"), HTTP: transport}
	if a, err := c.Admit(t.Context(), live.Credentials{User: "sara", Secret: "s"}); err != nil || !a.Allowed || !a.Publisher.Auto {
		t.Errorf("admit: %+v, %v", a, err)
	}
	if id, err := c.Arrived(t.Context(), live.Arrival{}); err != nil || id != "LIVE0000abcd" {
		t.Errorf("arrived: %q, %v", id, err)
	}
	if err := c.Left(t.Context(), live.Leaving{}); err != nil {
		t.Error(err)
	}
	if a, err := c.Roll(t.Context(), live.Roll{Protocol: live.RTMP, Senders: []live.Arrival{{Session: "s"}}}); err != nil || a.Streams["s"] != "LIVE0000abcd" || a.Refused["t"] != "revoked" {
		t.Errorf("roll: %v, %v", a, err)
	}
	if f, err := c.Facts(t.Context(), "a&b", "LIVE0000abcd"); err != nil || f.State != "a&b" {
		t.Errorf("facts: %+v, %v", f, err)
	}
	for status, kind := range map[int]error{404: station.ErrNotFound, 409: station.ErrConflict, 422: station.ErrInvalid, 403: station.ErrForbidden, 503: station.ErrUnavailable, 500: station.ErrInternal} {
		refuse = status
		if _, err := c.Arrived(t.Context(), live.Arrival{}); !errors.Is(err, kind) || !strings.Contains(err.Error(), "the show is over") {
			t.Errorf("status %d: %v", status, err)
		}
	}
	srv.Close()
	if _, err := c.Arrived(t.Context(), live.Arrival{}); !errors.Is(err, station.ErrUnavailable) {
		t.Errorf("a control plane that is away: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Arrived(ctx, live.Arrival{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has gone: %v", err)
	}
}

// A presenter who connects while the control plane starts again is let in once it is there;
// one whom it refuses is not kept waiting.
func TestAControlPlaneThatStartsIsWaitedFor(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"allowed":true}`)
	}))
	defer srv.Close()
	_ = srv.Listener.Close()
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(testkit.Port(t))) // which nobody else is given meanwhile
	var tries atomic.Int64
	transport := &http.Transport{DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, to)
		if err != nil && tries.Add(1) == 2 {
			l, err := net.Listen("tcp", address)
			if err != nil {
				t.Error(err)
				return nil, err
			}
			srv.Listener = l
			srv.Start()
		}
		return conn, err
	}}
	defer transport.CloseIdleConnections()
	c := wire.Control{Base: "http://" + address, Token: secret.Of("sesame"), HTTP: transport}
	if a, err := c.Admit(t.Context(), live.Credentials{}); err != nil || !a.Allowed || tries.Load() != 2 {
		t.Errorf("%+v after %d connections that were refused: %v", a, tries.Load(), err)
	}
}

// A node of a version before carts answers their orders as it does every address that it does
// not know: that is no missing cart.
func TestANodeWithoutCartsIsUnavailable(t *testing.T) {
	desk := wire.Desk{RoundTripper: &handled{Handler: http.NotFoundHandler()}}
	_, told := desk.Carts(t.Context(), live.Wall{})
	_, fired := desk.Fire(t.Context(), live.CartPress{})
	_, stopped := desk.StopCarts(t.Context(), "")
	for _, err := range []error{told, fired, stopped} {
		if !errors.Is(err, station.ErrUnavailable) || errors.Is(err, station.ErrNotFound) {
			t.Errorf("%v, want station.ErrUnavailable", err)
		}
	}
}
