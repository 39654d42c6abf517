package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/rotation"
	radio "github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

// maxGap is the longest silence automation may air, by the audio's own clock.
const maxGap = 100 * time.Millisecond

// The whole chain, judged by ear: what the scheduler committed is what is
// heard on Icecast and on HLS, in order, crossed, without a hole.
func TestChainAirsTheCommittedRotation(t *testing.T) {
	s := look(t)
	commits := s.follow()
	s.airs(4) // a new listener is given the last seconds too: let them be of a list that was followed
	ear := s.listen()
	listed := make(chan aircheck.PCM, 1)
	go func() {
		pcm, err := aircheck.Capture(t.Context(), s.url("player", "/hls/main/index.m3u8"), 20*time.Second)
		if err != nil {
			t.Errorf("capture HLS: %v", err)
		}
		listed <- pcm
	}()
	hls := aircheck.Fine.Analyse(testkit.Receive(t, "20 s of HLS", listed))
	s.eventually("what the station says is on air is what is heard", func() bool { return s.agrees(ear, aircheck.Fine) })
	ear.stop()
	icecast := aircheck.Fine.Analyse(ear.PCM())
	mustExplain(t, icecast, commits(), 0)
	for name, report := range map[string]aircheck.Report{"icecast": icecast, "hls": hls} {
		t.Logf("%s:\n%s", name, report)
		if len(report.Segments) < 3 {
			t.Errorf("%s: heard only %d tracks", name, len(report.Segments))
		}
		s.eventually("the log of what aired holds what was heard on "+name, func() bool { return contains(logged(s.plays()), report.Order()) })
		smooth(t, name, report)
	}
	if s.logged("Rotation verified on remote") == 0 {
		t.Error("no log line 'Rotation verified on remote'")
	}
	if s.logged("Rotation stable (", "/30 consumed)") == 0 {
		t.Error("no log line 'Rotation stable (n/30 consumed)'")
	}
}

// A rotation that is used up, and a hard window that begins: what is heard is
// what was committed, each list read once, and in the window nothing but its music.
func TestProgrammeIsHeardAsCommitted(t *testing.T) {
	s := steer(t)
	commits := s.follow()
	s.airs(4) // a new listener is given the last seconds too: let them be of a list that was followed
	lists, reads := s.reloads()
	ahead := lists - reads // the engine may have begun with a list in place
	ear := s.listen()
	t.Cleanup(func() { s.change(`{"ROTATION":{"REFRESH_FRACTION":0.85},"DAYPARTS":[]}`) })

	used := s.logged("rotation rebuilt", "consumed")
	s.change(`{"ROTATION":{"REFRESH_FRACTION":0.1}}`) // the third entry
	s.eventually("a rotation that was used up", func() bool { return s.logged("rotation rebuilt", "consumed") > used })
	s.change(`{"ROTATION":{"REFRESH_FRACTION":0.85}}`)
	s.airs(2)
	now := time.Now().UTC()
	clock := func(at time.Time) rotation.TimeOfDay { return rotation.TimeOfDay(at.Hour()*60 + at.Minute()) }
	window, err := json.Marshal([]rotation.Daypart{{
		Name: "overnight", Hard: radio.English, Start: clock(now.Add(-time.Hour)), End: clock(now.Add(3 * time.Hour)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	windows := s.logged("rotation rebuilt", "daypart", "english")
	s.change(`{"DAYPARTS":` + string(window) + `}`)
	s.eventually("the hard window's rotation", func() bool { return s.logged("rotation rebuilt", "daypart", "english") > windows })
	s.eventually("some of the window's list", func() bool { _, consumed, err := s.rotation(); return err == nil && consumed >= 5 })
	s.eventually("what the station says is on air is what is heard", func() bool { return s.agrees(ear, aircheck.Fine) })
	ear.stop()

	rotations := commits()
	if lists, reads := s.reloads(); lists-reads != ahead {
		t.Errorf("%d lists were committed and %d read since the start: each is to be read once", lists, reads)
	}
	report := aircheck.Fine.Analyse(ear.PCM())
	smooth(t, "icecast", report)
	heard := mustExplain(t, report, rotations, 0)
	asRun(t, heard, s.plays())
	inWindow := 0
	for _, h := range heard {
		if h.rotation < len(rotations)-1 {
			continue
		}
		inWindow++
		c := library()[h.ID].category
		if c.Music() && c != radio.English || c == radio.Shorts {
			t.Errorf("%s in the English-only window", c)
		}
	}
	if inWindow < 3 || heard[len(heard)-1].rotation < 2 {
		t.Errorf("heard %d entries of the hard window, of %d rotations: %v", inWindow, len(rotations), report.Order())
	}
}

// change patches the station's configuration.
func (s *station) change(patch string) {
	s.t.Helper()
	if code, text := s.operate(http.MethodPut, "/api/station/config", patch); code != http.StatusOK {
		s.t.Fatalf("change %s: %d %.300s", patch, code, text)
	}
}

// airs waits until so many entries have begun.
func (s *station) airs(entries int) {
	s.t.Helper()
	before := len(s.plays())
	s.eventually("the next entries", func() bool { return len(s.plays()) >= before+entries })
}

// smooth fails where neighbours do not meet as they should.
func smooth(t *testing.T, name string, report aircheck.Report) {
	t.Helper()
	if gap := report.Gap.Length(); gap > maxGap {
		t.Errorf("%s: a gap of %s at %s\n%s", name, gap, report.Gap.Start, report)
	}
	for _, c := range report.Crosses() {
		if c.Overlap > 2300*time.Millisecond || c.Overlap < -maxGap {
			t.Errorf("%s: tone %d meets tone %d with an overlap of %s", name, c.From, c.To, c.Overlap)
		}
	}
}

func logged(plays []played) []int {
	out := make([]int, len(plays))
	for i, p := range plays {
		out[i] = p.tone
	}
	return out
}

// contains reports that part stands in whole, in one piece.
func contains(whole, part []int) bool {
	for i := 0; i+len(part) <= len(whole); i++ {
		if slices.Equal(whole[i:i+len(part)], part) {
			return true
		}
	}
	return false
}
