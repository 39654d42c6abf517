package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/athir-radio/athir/test/docs"
)

// What a manual has somebody type is a command line of ours: its words and flags are there,
// and in a block, which is copied, nothing is missing.
func TestTheCommandsOfTheManualsAreCommandLines(t *testing.T) {
	typed, err := docs.Commands("../..")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, c := range typed {
		for _, p := range c.Parts() {
			args, ours := p.Athir()
			if !ours {
				continue
			}
			tried++
			for i, arg := range args { // a folder that must be there
				args[i] = strings.Replace(arg, "~/Music", t.TempDir(), 1)
			}
			helped := false
			parser, err := kong.New(&commands{}, kong.Name("athir"), kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) { helped = true }))
			if err != nil {
				t.Fatal(err)
			}
			if !p.Fenced { // a sentence names a command without all that it wants
				trace, err := kong.Trace(parser, args)
				if err == nil {
					err = trace.Error
				}
				if err != nil {
					t.Errorf("%s:%d: athir %s: %v", p.File, p.Line, strings.Join(args, " "), err)
				}
				continue
			}
			if _, err := parser.Parse(args); err != nil && !helped {
				t.Errorf("%s:%d: athir %s: %v", p.File, p.Line, strings.Join(args, " "), err)
			}
		}
	}
	if tried < 60 {
		t.Errorf("the manuals have only %d commands: has their form changed?", tried)
	}
}
