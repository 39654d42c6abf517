package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/test/aircheck"
)

// A version with another script for the engine: the engine alone is started anew, as one
// entry gives way to the next; nobody is disconnected, what was on the air was heard but for
// its cross, and nothing comes twice.
func TestANewScriptIsHeardBetweenTwoEntries(t *testing.T) {
	t.Parallel()
	s := newStation(t, withKeys)
	pieces, lasts := sample(), map[int]time.Duration{}
	for i, p := range pieces {
		if p.category.Music() { // long enough for an end in their midst to be told from one in their cross
			pieces[i].length = 10 * time.Second
		}
		lasts[p.id] = pieces[i].length
	}
	record(t, s.media, pieces)
	s.configure(programmeRules(30, []rotation.Daypart{}))
	s.start().whole()
	s.hlsReady()
	script := filepath.Join(s.data, "node", "main.liq")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	// As an older version would have written it; the running engine has read it long ago.
	if err := os.WriteFile(script, append(text, "# older\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	air := s.listen()
	others := []string{"icecast", "bridge", "relay", "player", "chat"}
	kept, engine := s.pids(others...), s.pids("liquidsoap")
	// Of what was on the air as it began to listen, only a part is heard.
	air.until(s, "whole entries", 0, func(heard []aircheck.Segment) bool { return len(heard) > 2 })
	s.upgrade(copyOf(t, binary, "newer"))
	s.eventually("another engine runs", func() bool { return !slices.Equal(s.pids("liquidsoap"), engine) })
	renewed := air.PCM().Duration()
	air.until(s, "music from the new engine", renewed, func(after []aircheck.Segment) bool { return len(after) > 4 })
	if now, err := os.ReadFile(script); err != nil || string(now) != string(text) {
		t.Errorf("the script is not this version's: %v", err)
	}
	if after := s.pids(others...); !slices.Equal(after, kept) {
		t.Errorf("processes %v became %v", kept, after)
	}
	again := s.pids("liquidsoap")
	s.upgrade(copyOf(t, binary, "newest"))
	air.until(s, "more music", air.PCM().Duration(), func(after []aircheck.Segment) bool { return len(after) > 2 })
	if n := s.logged("the engine is started anew between two entries"); n != 1 {
		t.Errorf("the log says %d times that the engine is started anew", n)
	}
	if after := s.pids("liquidsoap"); !slices.Equal(after, again) {
		t.Errorf("an engine with the script of its version was started anew: %v became %v", again, after)
	}
	heard := aircheck.Fine.Analyse(air.PCM()).Segments
	after := slices.IndexFunc(heard, func(seg aircheck.Segment) bool { return seg.End > renewed })
	if after < 2 {
		t.Fatalf("heard: %v", heard)
	}
	first, last := heard[after], heard[after-1]
	if first.Start < renewed-time.Second { // it was on the air as the engine ended
		last, first = heard[after], heard[after+1]
	}
	ended, _ := air.ArrivedAt(last.End - 10*time.Millisecond)
	began, _ := air.ArrivedAt(first.Start + 10*time.Millisecond)
	t.Logf("tone %d was heard for %s; tone %d came %s later", last.ID, last.Length(), first.ID, began.Sub(ended).Round(time.Millisecond))
	if whole := lasts[last.ID]; last.Length() < whole-mostCut {
		t.Errorf("the engine ended in the midst of tone %d: %s of %s were heard", last.ID, last.Length(), whole)
	}
	for i := 1; i < len(heard); i++ {
		if heard[i].ID == heard[i-1].ID {
			t.Errorf("tone %d was heard twice in a row", heard[i].ID)
		}
	}
}

// mostCut is what may be missing of the last entry: its cross of two seconds, the look for its
// end, and what the streaming server had not passed on when the engine ended: a fifth of a
// second, and half a second more was seen on a machine without time.
const mostCut = 3500 * time.Millisecond
