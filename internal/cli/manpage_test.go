package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// The manual page is written by hand; a command that it lacks is one that nobody finds.
func TestTheManualPageNamesEveryCommand(t *testing.T) {
	page, err := os.ReadFile("../../deploy/debian/athir.1")
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&commands{}, kong.Name("athir"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, leaf := range parser.Model.Leaves(true) {
		name, _, _ := strings.Cut(leaf.Path(), " <")
		name = strings.TrimPrefix(name, "athir ")
		known[name] = true
		if !strings.Contains(string(page), "\n.TP\n.B "+name+"\n") {
			t.Errorf("athir.1 does not describe %q", name)
		}
	}
	_, listed, _ := strings.Cut(string(page), ".SH COMMANDS")
	listed, _, _ = strings.Cut(listed, ".SH ENVIRONMENT")
	for _, entry := range strings.Split(listed, "\n.TP\n.B ")[1:] {
		if name, _, _ := strings.Cut(entry, "\n"); !known[name] {
			t.Errorf("athir.1 describes %q, which is no command", name)
		}
	}
}
