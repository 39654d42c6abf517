package cli

import (
	"bytes"
	"strings"
	"testing"
)

// Whoever types help instead of --help is helped.
func TestHelpIsACommandToo(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"", "Usage: athir <command>"},
		{"help", "Usage: athir <command>"},
		{"help backup", "Usage: athir backup"},
		{"help content refresh", "Usage: athir content refresh"},
	} {
		var out bytes.Buffer
		err := Main(t.Context(), Process{Version: "test", Args: strings.Fields(c.args), Out: &out})
		if err != nil || !strings.HasPrefix(out.String(), c.says) {
			t.Errorf("athir %s: %v, %.60q", c.args, err, out.String())
		}
	}
	if err := Main(t.Context(), Process{Version: "test", Args: []string{"help", "nonsense"}, Out: &bytes.Buffer{}}); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("a command that is none: %v", err)
	}
}
