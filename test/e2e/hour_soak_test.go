//go:build soak

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	radio "github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

// airFor is the environment variable that makes the programme longer, 60m for
// an hour of the wall clock, which is sixty hours of programme.
const airFor = "ATHIR_E2E_AIR"

// The whole chain with the whole planner: hours of programme at sixty times its
// speed, through a rotation that is used up and the start of a hard window, all
// of it judged by what Icecast gave out. What is heard is what was committed,
// entry for entry, and keeps the rules.
func TestSoakHoursOfProgrammeAreHeardAsCommitted(t *testing.T) {
	t.Parallel() // most of it is listening
	s := newStation(t)
	pieces := library()
	air := airTime(t)
	length := 36 // used up in little more than a minute
	if air >= 20*time.Minute {
		length = 120
	}
	record(t, s.media, pieces)
	// The first rotation is used up before the first window begins.
	gate := time.Now().UTC().Add(80 * time.Second).Truncate(time.Minute).Add(time.Minute)
	cfg := programmeRules(length, day(gate, air))
	s.configure(cfg)
	s.start()
	commits := s.follow()
	s.onAir()
	lists, reads := s.reloads()
	ahead := lists - reads // the engine may have begun with a list in place
	recorder := aircheck.NewRecorder(s.url("icecast", "/main"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- recorder.Run(ctx) }()
	began := time.Now()

	s.within("a rotation used up to 85 %", air+3*time.Minute, func() bool { return s.logged("rotation rebuilt", "consumed") > 0 })
	s.within("the hard window's rotation", air+4*time.Minute, func() bool { return s.logged("rotation rebuilt", "daypart", "english") > 0 })
	enough := max(30*time.Second, air-time.Since(began)) // to hear the window, or all that was asked for
	select {
	case <-time.After(enough):
	case <-s.ended:
		t.Fatal("the station has ended")
	}

	plays := s.plays()
	heardAt := recorder.Position(time.Now())
	cancel()
	<-done
	rotations := commits()
	if lists, reads := s.reloads(); lists-reads != ahead {
		t.Errorf("%d lists were committed and %d read since the start: each is to be read once", lists, reads)
	}
	report := aircheck.Fine.Analyse(recorder.PCM())
	if keep := os.Getenv("AIRCHECK_DIR"); keep != "" {
		_ = recorder.PCM().WriteFile(filepath.Join(keep, t.Name()+".wav"))
	}
	t.Logf("HEARD %d entries in %s, of %d rotations; longest gap %s", len(report.Segments), heardAt.Round(time.Second), len(rotations), report.Gap.Length())
	if gap := report.Gap.Length(); gap > maxGap {
		t.Errorf("a gap of %s at %s", gap, report.Gap.Start)
	}
	heard := mustExplain(t, report, rotations, 0)
	asRun(t, heard, plays)
	judgeProgramme(t, cfg, pieces, heard, rotations)
}

// airTime is how long the programme is asked to be; zero is the short one.
func airTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv(airFor)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d > 12*time.Hour {
		t.Fatalf("%s=%s: must be a duration of at most 12h, such as 60m", airFor, text)
	}
	return d
}

// day are the dayparts of the programme's clock: hard English windows of three
// of its hours, the first from gate on, and one that leans to Arabic after each.
func day(gate time.Time, air time.Duration) (out []rotation.Daypart) {
	clock := func(at time.Time) rotation.TimeOfDay { return rotation.TimeOfDay(at.Hour()*60 + at.Minute()) }
	for at := gate; at.Before(gate.Add(max(air, time.Minute))); at = at.Add(12 * time.Minute) {
		out = append(out,
			rotation.Daypart{Name: "overnight", Start: clock(at), End: clock(at.Add(3 * time.Minute)), Hard: radio.English},
			rotation.Daypart{Name: "morning", Start: clock(at.Add(3 * time.Minute)), End: clock(at.Add(6 * time.Minute)),
				Weights: map[radio.Category]float64{radio.ArabicHits: 1.2, radio.English: 0.8, radio.Mashups: 0.5}})
	}
	return out
}

// within waits for what takes longer than anything else a test waits for.
func (s *station) within(what string, limit time.Duration, ok func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("never within %s: %s\n%s", limit, what, s.tail(60))
		}
	}
}
