package outward

import (
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// A letter is what is heard from one marker on: m for music, l for live, E for
// an engine that starts. A space is a look.
func TestTakeoversBeginAndEndOnceHoweverTheyAreSeen(t *testing.T) {
	for _, c := range []struct{ what, air, want string }{
		{"one, seen as it comes", "m l m m ", "+e/2 -e/2"},
		{"with new titles", "m l l l m ", "+e/2 -e/2"},
		{"two", "m l m l m ", "+e/2 -e/2 +e/4 -e/4"},
		{"all of it between two looks", "m lm ", "+e/2 -e/2"},
		{"ends and the next begins between two looks", "m l ml ", "+e/2 -e/2 +e/4"},
		{"the engine starts again meanwhile", "m l E l m ", "+e/2 -e/2"},
		{"of more titles than are in sight", "m " + strings.Repeat("l ", 40) + "m ", "+e/2 -e/2"},
		{"goes on when the station starts again", "mll ", "+e/2"},
		{"has ended by then", "mlm m ", "-e/2"},
		{"the station begins with it", "l m ", "+e/1 -e/1"},
		{"nobody is live", "m m E m ", ""},
	} {
		var b takeovers
		var told []string
		var heard []scheduler.OnAir // newest first
		booting := false
		for i, letter := range c.air {
			at := time.UnixMilli(int64(i + 1))
			switch letter {
			case 'm', 'l':
				a := scheduler.OnAir{Kind: scheduler.Rotation, Engine: "e", Seq: uint64(len(heard) + 1), StartedAt: at, Track: station.Track{Title: "x"}}
				if letter == 'l' {
					a.Kind = scheduler.Live
				}
				heard, booting = append([]scheduler.OnAir{a}, heard...), false
			case 'E':
				booting = true
			case ' ':
				v := &scheduler.View{Past: heard}
				if !booting {
					v = &scheduler.View{OnAir: heard[0], Past: heard[1:]}
				}
				v.Past = v.Past[:min(30, len(v.Past))]
				for _, s := range b.step(v) {
					if s.ended.IsZero() {
						told = append(told, "+"+s.key)
					} else {
						told = append(told, "-"+s.key)
					}
				}
			}
		}
		if got := strings.Join(told, " "); got != c.want {
			t.Errorf("%s: told %q, want %q", c.what, got, c.want)
		}
	}
}
