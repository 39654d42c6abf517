//go:build soak

package bridge_test

import (
	"testing"
	"time"
)

// How right the programme date-time is after a break, and what a break costs. Both
// hold the machine's lateness too; what the dates are made of is tested in the relay.
func TestSoakWhatARestartCosts(t *testing.T) {
	for name, restart := range map[string]func(*testing.T) (*chain, *listener, *fakeIcecast){
		"bridge killed": killedBridge, "Icecast killed": killedIcecast,
	} {
		t.Run(name, func(t *testing.T) {
			_, l, source := restart(t)
			audio := l.audio(t)
			t.Logf("programme lost %s, target 3s", l.lost().Round(10*time.Millisecond))
			// Icecast itself passes these tones on in lumps of a second.
			t.Logf("date-time off by at most %s, target 2s", l.checkDates(source, audio).Round(time.Millisecond))
			t.Logf("longest silence %s, target 150ms", longestSilence(audio[1:]))
			if l.breaks() == 0 {
				t.Error("no break")
			}
		})
	}
}

// timeOf says when a position in that audio was on air.
func (l *listener) timeOf(position time.Duration) time.Time {
	for _, p := range l.pieces {
		length := p.until.Sub(p.at)
		if position <= length {
			return p.at.Add(position)
		}
		position -= length
	}
	return time.Time{}
}

// toneAt is the number of the tone on air at a time.
func (f *fakeIcecast) toneAt(at time.Time) int { return int(at.Sub(f.begin) / toneLength) }

// checkDates compares the programme date-time of every change of tone with
// when the source really made it, and returns the largest error.
func (l *listener) checkDates(source *fakeIcecast, audio []heard) (worst time.Duration) {
	for i := 1; i < len(audio); i++ {
		if audio[i].tone < 0 || audio[i-1].tone < 0 || audio[i].tone != (audio[i-1].tone+1)%toneCount {
			continue
		}
		dated := l.timeOf(audio[i].from + 25*time.Millisecond)
		n := source.toneAt(dated.Add(toneLength / 2)) // the nearest change
		made := source.begin.Add(time.Duration(n) * toneLength)
		worst = max(worst, dated.Sub(made).Abs())
	}
	return worst
}
