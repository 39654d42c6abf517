package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/athir-radio/athir/internal/sound/stinger"
)

const intro = `# Listening by eye

Made by ` + "`go run ./test/listening`" + `; do not edit. One asset of each kind, all sixteen stingers and
a bulletin, as the station makes them, with the offline voice. Each is measured on the finished MP3.

Above, what is heard when: from 40 Hz at the foot to 16 kHz at the top, each octave as high as the
next, ticks at 100 Hz, 1 kHz and 10 kHz; black is silence, pale yellow loud. Below, the momentary
loudness over 400 ms (of stingers, over a twelfth of their length), from −50 LUFS to 0, with a line
for each second and the target of −14 LUFS dotted in red.

What to look for: a voice is a ladder of harmonics that moves, with gaps between the words. Under it the
bed is darker and comes back after it, without a bump at each word. A sweeper ends in a hit that
rings out. A riser climbs, a drop falls, a whoosh is a cloud that moves, a subdrop ends at the foot.

`

func writePage(path string, shown []sample) error {
	var b strings.Builder
	b.WriteString(intro)
	var effects []sample
	for _, s := range shown {
		if strings.HasPrefix(s.name, "stinger_") {
			effects = append(effects, s)
			continue
		}
		fmt.Fprintf(&b, "## %s\n\n%s\n\n%s\n\n![%s](listening/%s.png)\n\n", s.title, s.figures(), s.about, s.title, s.name)
	}
	b.WriteString("## Stingers\n\n| | |\n|---|---|\n")
	for i := 0; i < len(effects); i += 2 {
		for _, s := range effects[i:min(i+2, len(effects))] {
			fmt.Fprintf(&b, "| **%s** %s<br>%s<br>![%s](listening/%s.png) ", s.title, stinger.Design(s.title).Purpose(), s.figures(), s.title, s.name)
		}
		b.WriteString("|\n")
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

func (s sample) figures() string {
	return fmt.Sprintf("%.2f s, %.2f LUFS, %.2f dBTP", s.heard.length, s.heard.whole.Integrated, s.heard.whole.TruePeak)
}
