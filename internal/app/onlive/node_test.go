package onlive

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/node/relay"
)

// The relay's questions reach the control plane with all that it decides by: one about an
// encoder that publishes already would otherwise be logged, and counted, as a new try.
func TestTheRelaysQuestionsAreWhole(t *testing.T) {
	var asked live.Credentials
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/api/live/admit" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		_, _ = w.Write([]byte(`{"allowed":false,"detail":"revoked"}`))
	}))
	defer control.Close()
	_, port, _ := net.SplitHostPort(control.Listener.Addr().String())
	cfg := &config.Config{Bind: config.Loopback, SyncToken: "sesame"}
	cfg.Ports.Control, _ = strconv.Atoi(port)
	o := Admitting(cfg, relay.Options{})
	allowed, detail, err := o.Admit(t.Context(), relay.Encoder{Name: "sara", Password: "of-sara", From: "192.0.2.1", ID: "7", Again: true})
	if allowed || detail != "revoked" || err != nil {
		t.Errorf("%v, %q, %v", allowed, detail, err)
	}
	want := live.Credentials{Protocol: live.RTMP, User: "sara", Secret: "of-sara", Mount: "live/sara", Address: "192.0.2.1", Again: true}
	if d := cmp.Diff(want, asked); d != "" {
		t.Error(d)
	}
}
