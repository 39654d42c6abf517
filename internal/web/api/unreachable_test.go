package api_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/web/api"
)

// A node that does not answer may send music all the same: no door says that the station
// is off, and each says what is known.
func TestANodeThatDoesNotAnswerIsNotOffAir(t *testing.T) {
	r := newRigWith(t, func(o *api.Options) {
		o.Node = func(context.Context) (api.Node, error) {
			return api.Node{}, errors.New("dial unix: connection refused")
		}
	})
	for _, path := range []string{"/api/status", "/api/station/state", "/healthz"} {
		if s := r.json(t, path); s["state"] != "music" {
			t.Errorf("%s says %v", path, s["state"])
		}
	}
	if s := r.json(t, "/api/status"); s["reason"] != "node_unreachable" || s["onAir"] != true {
		t.Errorf("/api/status gives the reason %v, on air %v", s["reason"], s["onAir"])
	}
	if now := r.api.OnAirNow(t.Context()); now.State != "music" {
		t.Errorf("the event status says %q", now.State)
	}
	_, _, body := r.call(t, "GET", "/metrics", "")
	for _, line := range []string{"athir_on_air 1\n", "athir_node_reachable 0\n"} {
		if !strings.Contains(body, line) {
			t.Errorf("/metrics lacks %q", line)
		}
	}
}

// What is wrong with the node is told before what follows from it.
func TestTheReasonIsTheCauseNotWhatFollowsFromIt(t *testing.T) {
	var node api.Node
	var lost error
	r := newRigWith(t, func(o *api.Options) {
		o.Node = func(context.Context) (api.Node, error) { return node, lost }
	})
	node = api.Node{Sounding: true, DiskFull: true}
	for _, c := range []struct{ mastering, rotation, library, want string }{
		{"", "", "", "disk_full"},
		{"write copy: no space left on device", "", "", "disk_full"},
		{"", "commit: the disk is full", "", "disk_full"},
		{"", "", "media folder is not mounted", "media_folder"},
	} {
		r.trouble, r.view.Problem, r.lib.Problem = c.mastering, c.rotation, c.library
		if s := r.json(t, "/api/status"); s["reason"] != c.want {
			t.Errorf("on a full disk, with %q, %q and %q: the reason is %v, want %s", c.mastering, c.rotation, c.library, s["reason"], c.want)
		}
	}
	r.trouble, r.view.Problem, r.lib.Problem = "", "push: no answer", ""
	if lost = errors.New("timeout"); r.json(t, "/api/status")["reason"] != "node_unreachable" {
		t.Error("a rebuild that failed hides that the node does not answer")
	}
}
