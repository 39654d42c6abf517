package whip

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/whip/whiptest"
)

// The rows of the table at seat, each as a story: s1 and s2 are sara's sessions, o1 is
// omar's, l1 is layla's, who may not take the air without the studio.
func TestWhoFeedsThePipe(t *testing.T) {
	publishers := map[string]string{"s1": "sara", "s2": "sara", "o1": "omar", "l1": "layla"}
	start := time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		what     string
		events   []string
		holder   string
		replaced []string
	}{
		{"the first to come holds it", []string{"+s1"}, "s1", nil},
		{"another publisher waits", []string{"+s1", "+o1"}, "s1", nil},
		{"a second phone takes it over", []string{"+s1", "+s2"}, "s2", []string{"s1"}},
		{"a second phone takes over the place in the queue", []string{"+o1", "+s1", "+s2", "!o1"}, "s2", []string{"s1"}},
		{"a new track changes nothing", []string{"+s1", "+o1", "+s1"}, "s1", nil},
		{"an end on purpose: who waits longest follows", []string{"+s1", "+o1", "+l1", "!s1"}, "o1", nil},
		{"an end on purpose, and nobody waits", []string{"+s1", "!s1"}, "", nil},
		{"a broken connection: it is kept", []string{"+s1", "+o1", "?s1"}, "", nil},
		{"its publisher comes back", []string{"+s1", "+o1", "?s1", "+s2"}, "s2", nil},
		{"another comes meanwhile, and waits", []string{"+s1", "?s1", "+o1"}, "", nil},
		{"its time is not over", []string{"+s1", "+o1", "?s1", "1s"}, "", nil},
		{"its time is over", []string{"+s1", "+o1", "?s1", "5s"}, "o1", nil},
		{"its time is over, and nobody waits", []string{"+s1", "?s1", "5s", "+o1"}, "o1", nil},
		{"it was meant: who waits longest follows", []string{"+s1", "+o1", "?s1", ".s1"}, "o1", nil},
		{"it was meant, and nobody waits", []string{"+s1", "?s1", ".s1", "+o1"}, "o1", nil},
		{"it was meant, and its publisher is back", []string{"+s1", "?s1", "+s2", ".s1"}, "s2", nil},
		{"it was meant, and the next one broke as well", []string{"+s1", "+o1", "?s1", "+s2", "?s2", ".s1"}, "", nil},
		{"the studio hands over", []string{"+s1", "+o1", "=o1"}, "o1", nil},
		{"the studio hands over, and the new one ends: back to the one before", []string{"+s1", "+l1", "+o1", "=o1", "!o1"}, "s1", nil},
		{"the studio hands over what is kept", []string{"+s1", "+o1", "?s1", "=o1"}, "o1", nil},
		{"what is not there cannot be handed over to", []string{"+s1", "=o1"}, "s1", nil},
		{"who may follows, before who waits longer", []string{"+s1", "+l1", "+o1", "!s1"}, "o1", nil},
		{"who must wait for the studio does not follow", []string{"+s1", "+l1", "!s1"}, "", nil},
		{"nor by a new track", []string{"+s1", "+l1", "!s1", "+l1"}, "", nil},
		{"nor when its time is over", []string{"+s1", "+l1", "?s1", "5s"}, "", nil},
		{"nor back to the word that it lost", []string{"+l1", "+o1", "=o1", "!o1"}, "", nil},
		{"the studio hands over what is free", []string{"+s1", "+l1", "!s1", "=l1"}, "l1", nil},
		{"another comes to what is free", []string{"+s1", "+l1", "!s1", "+o1"}, "o1", nil},
		{"its slot begins", []string{"+s1", "+l1", "^l1"}, "s1", nil},
		{"its slot begins, and it is free", []string{"+s1", "+l1", "!s1", "^l1"}, "l1", nil},
		{"its slot begins, then it is free", []string{"+s1", "+l1", "^l1", "!s1"}, "l1", nil},
		{"its slot begins while it is kept", []string{"+s1", "+l1", "?s1", "^l1"}, "", nil},
		{"its slot is over", []string{"+s1", "+o1", "_o1", "!s1"}, "", nil},
		{"the slot of who held it is over", []string{"+s1", "+o1", "_s1", "=o1", "!o1"}, "", nil},
		{"one that waits leaves", []string{"+s1", "+o1", "!o1", "!s1"}, "", nil},
		{"one that waits breaks off", []string{"+s1", "+o1", "?o1"}, "s1", nil},
	} {
		var s seat
		var replaced []string
		now := start
		for _, e := range c.events {
			who := e[1:]
			switch e[0] {
			case '+':
				gone := s.arrives(who, publishers[who], who != "l1")
				replaced = append(replaced, gone...)
				for _, one := range gone {
					s.ends(one, false, now)
				}
			case '!':
				s.ends(who, false, now)
			case '?':
				s.ends(who, true, now.Add(5*time.Second))
			case '.':
				s.meant(who)
			case '^', '_':
				s.allows(who, e[0] == '^')
			case '=':
				s.handed(who)
			default:
				d, _ := time.ParseDuration(e)
				now = now.Add(d)
				s.expires(now)
			}
		}
		if s.holder != c.holder || !slices.Equal(replaced, c.replaced) {
			t.Errorf("%s: %q holds it, %v replaced; want %q and %v", c.what, s.holder, replaced, c.holder, c.replaced)
		}
	}
}

func tone(hertz float64, from int) []byte {
	frame := make([]byte, live.FrameBytes)
	for i := range live.FrameSamples {
		v := int16(8000 * math.Sin(2*math.Pi*hertz*float64(from+i)/live.Rate))
		setSample(frame, 2*i, v)
		setSample(frame, 2*i+1, v)
	}
	return frame
}

func samples(frame []byte) []int16 {
	out := make([]int16, len(frame)/2)
	for i := range out {
		out[i] = sample(frame, i)
	}
	return out
}

// One session follows another within 10 ms and without a click, wherever in their waves
// the two are; one that ends fades out.
func TestOneSessionFollowsAnotherWithoutAClick(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for phase := range 40 {
		var j joint
		var heard []int16
		play := func(from string, frame []byte) {
			now = now.Add(live.Tick)
			j.play(from, frame, now)
			heard = append(heard, samples(frame)...)
		}
		for i := range 5 {
			play("a", tone(440, phase*7+i*live.FrameSamples))
		}
		for i := range 5 {
			play("b", tone(1000, phase*3+i*live.FrameSamples))
		}
		heard = append(heard, samples(j.close(now))...)
		// A step of the wave's height would be an edge of 8000 and more. Where a wave is
		// mirrored it may turn at its steepest, 8000·2π·1000/48000 ≈ 1050 a sample.
		if e := whiptest.Edge(heard); e > 2300 {
			t.Errorf("phase %d: an edge of %.0f", phase, e)
		}
		after := heard[5*live.FrameSamples*2+fade*2 : 6*live.FrameSamples*2]
		if whiptest.Heard(after, 440, 1000) != 1 || whiptest.Level(after, 1000) < 7000 {
			t.Errorf("phase %d: 10 ms later the new one has a level of %.0f", phase, whiptest.Level(after, 1000))
		}
		if got := heard[len(heard)-1]; got != 0 {
			t.Errorf("phase %d: it ends at %d", phase, got)
		}
		if j.close(now) != nil {
			t.Error("it ends twice")
		}
	}
	// What is long past is not joined to.
	var j joint
	j.play("a", tone(440, 0), now)
	frame := tone(1000, 0)
	j.play("b", frame, now.Add(time.Second))
	if got := samples(frame)[0]; got != 0 {
		t.Errorf("it begins at %d", got)
	}
}

func TestWordsOfAPageAreOneLineWithoutTricks(t *testing.T) {
	for in, want := range map[string]string{
		" Morning\r\nshow ": "Morning show", "صباح الخير": "صباح الخير", "a\u202eb\x00c": "a b c", "\xff": "", "": "",
	} {
		if got := words(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := words(fmt.Sprintf("%0200d", 1)); len(got) != mostWords {
		t.Errorf("%d letters", len(got))
	}
}
