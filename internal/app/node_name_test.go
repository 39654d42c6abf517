package app

import (
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/config"
)

// Copies of a machine share its name and its folders; their addresses tell them apart.
func TestANodeIsNamedWithItsAddress(t *testing.T) {
	t.Parallel()
	n := node{cfg: &config.Config{DataDir: "/var/lib/athir", Bus: config.Bus{Control: "127.0.0.1:5000"}}}
	if name := n.shownName(t.Context()); !strings.HasSuffix(name, " (127.0.0.1):/var/lib/athir") {
		t.Error(name)
	}
	n.cfg.Bus.Control = "no address"
	if name := n.shownName(t.Context()); !strings.HasSuffix(name, ":/var/lib/athir") {
		t.Errorf("where the control plane's address cannot be found: %s", name)
	}
}
