package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	keys "github.com/athir-radio/athir/internal/kit/secret"
	deadair "github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// alarmed is a guard with a finding.
type alarmed struct{ cause string }

func (a alarmed) Status() deadair.Standing {
	return deadair.Standing{State: "watching", LastAlarm: &deadair.Alarm{Kind: "gone", Cause: a.cause, Steps: []deadair.Step{}}}
}
func (alarmed) Totals() deadair.Totals                                { return deadair.Totals{} }
func (alarmed) History(context.Context, int) ([]deadair.Alarm, error) { return nil, nil }

// What a failure says (paths, process ids, the resolver's address) is for the operator:
// everybody else gets the same answer without it, however the answers alternate.
func TestWhatTheMachineIsMadeOfNeedsTheKey(t *testing.T) {
	const secret = "open /srv/athir/data: lookup api.example on 192.0.2.53:53"
	for _, key := range []string{"key", ""} { // an open station has no secrets
		r := newRigWith(t, func(o *api.Options) {
			o.StationKey, o.DeadAir = keys.Of(key), alarmed{secret}
			o.Node = func(context.Context) (api.Node, error) {
				return api.Node{Programs: []api.Process{{Name: "liquidsoap", State: "backoff", PID: 4711, LastExit: secret, Since: time.Now().UnixMilli()}}, Versions: map[string]string{"control": secret}, Restart: []string{"icecast.max_clients (node)"}}, nil
			}
		})
		r.made.wrong, r.trouble = secret, secret
		for _, path := range []string{"/api/status", "/api/status?each=1", "/api/bulletin/status", "/api/content/status", "/api/library", "/api/library?q=1"} {
			for range 2 {
				for _, c := range []struct {
					name    string
					headers []string
					shown   bool
				}{
					{"a listener", nil, key == ""},
					{"a wrong key", []string{"X-Station-Key", "guess", "X-Forwarded-For", "198.51.100.7"}, key == ""},
					{"a proxy's own login", []string{"Authorization", "Basic a2V5"}, key == ""},
					{"the operator", []string{"X-Station-Key", "key"}, true},
					{"the operator, as a Bearer token", []string{"Authorization", "Bearer key"}, true},
				} {
					code, _, body := r.call(t, "GET", path, "", c.headers...)
					if code != http.StatusOK || strings.Contains(body, "192.0.2.53") != c.shown || !c.shown && strings.Contains(body, "max_clients") || !c.shown && strings.Contains(body, "4711") {
						t.Errorf("key %q: %s to %s: %d, want it shown: %v\n%s", key, path, c.name, code, c.shown, body)
					}
				}
			}
		}
	}
	r := newRigWith(t, func(o *api.Options) {
		o.StationKey, o.Backup = keys.Of("key"), func() api.Backup {
			return api.Backup{Made: 1, File: "/srv/b.tar.zst", Bytes: 2, Why: "scheduled", Verified: true, TriedAt: 3, Failures: 4, Error: "no room", Continuous: &api.Continuous{To: "/mnt/nas", Until: 5, Bytes: 6, Waiting: 7, Error: "away"}}
		}
	})
	if _, _, body := r.call(t, "GET", "/api/status", "", "X-Station-Key", "key"); !strings.Contains(body, `"backup":{"made":1,"file":"/srv/b.tar.zst","bytes":2,"why":"scheduled","verified":true,"triedAt":3,"failures":4,"error":"no room","continuous":{"to":"/mnt/nas","until":5,"bytes":6,"waiting":7,"error":"away"}}`) {
		t.Errorf("the newest backup: %s", body)
	}
	if _, _, body := r.call(t, "GET", "/api/status", ""); strings.Contains(body, "tar.zst") || strings.Contains(body, "no room") || strings.Contains(body, "/mnt/nas") {
		t.Errorf("a listener is told of backups: %s", body)
	}
	r = newRigWith(t, func(o *api.Options) { o.StationKey, o.Now = keys.Of("key"), standing }) // no guess comes back meanwhile
	r.made.wrong = secret
	for range 30 { // an open route is no place to guess keys
		r.call(t, "GET", "/api/status", "", "X-Station-Key", "guess", "X-Forwarded-For", "198.51.100.8")
	}
	if code, _, _ := r.call(t, "GET", "/api/station/state", "", "X-Station-Key", "key", "X-Forwarded-For", "198.51.100.8"); code != http.StatusTooManyRequests {
		t.Errorf("after 30 guesses at an open route: %d", code)
	}
}

// /healthz fails while the control plane cannot do its work, and says in what.
func TestHealthFailsWithAFaultOfTheControlPlane(t *testing.T) {
	var fault []string
	r := newRigWith(t, func(o *api.Options) { o.Faults = func() []string { return fault } })
	if code, _, body := r.call(t, "GET", "/healthz", ""); code != http.StatusOK || !strings.Contains(body, `"ok":true`) {
		t.Errorf("without a fault: %d %s", code, body)
	}
	fault = []string{"the bus refuses our password", "the database is gone"}
	if code, _, body := r.call(t, "GET", "/healthz", ""); code != http.StatusServiceUnavailable || !strings.Contains(body, "the bus refuses our password; the database is gone") {
		t.Errorf("with two: %d %s", code, body)
	}
}

// Markers of a node that does not have the station change nothing, with the right token.
func TestMarkersOfAnotherNodeAreRefused(t *testing.T) {
	refused := fmt.Errorf("another node has the station: %w", station.ErrConflict)
	r := newRigWith(t, func(o *api.Options) {
		o.Admit = func(node string, _ uint64) error {
			if node == "ours" {
				return nil
			}
			return refused
		}
	})
	for node, want := range map[string]int{"?node=ours": http.StatusOK, "?node=other": http.StatusConflict, "": http.StatusConflict} {
		r.markers = nil
		code, _, body := r.call(t, "POST", "/metadata"+node, goodMarker, "Content-Type", "application/json", "X-Sync-Token", "sesame")
		if code != want || len(r.markers) > 0 != (want == http.StatusOK) {
			t.Errorf("%q: %d, %d markers: %s", node, code, len(r.markers), body)
		}
	}
}
