package relay

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

const testRate = 44100

// feeder plays frames into a timeline the way an encoder does.
type feeder struct {
	line   *timeline
	pts    time.Duration
	pieces []piece
}

func newFeeder() *feeder {
	f := &feeder{line: &timeline{}}
	f.line.restart(testRate)
	return f
}

func (f *feeder) send(arrived time.Time, frames int) {
	f.pieces = append(f.pieces, f.line.push(arrived, f.pts, make([]set, frames))...)
	f.pts += f.line.duration(frames)
}

// live sends audio as it is made, in lumps, and returns when it ended.
func (f *feeder) live(from time.Time, length time.Duration, lump int) time.Time {
	for end := from.Add(length); from.Before(end); {
		from = from.Add(f.line.duration(lump))
		f.send(from, lump)
	}
	return from
}

func (f *feeder) breaks() int {
	n := 0
	for _, p := range f.pieces {
		if p.fresh {
			n++
		}
	}
	return n - 1 // the first run is none
}

// last is when the newest relayed frame ended.
func (f *feeder) last() time.Time { return f.line.end }

// usual is how many frames ffmpeg packs together at 256 kbit/s.
const usual = 4

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func within(t *testing.T, what string, got, want time.Time, tolerance time.Duration) {
	t.Helper()
	if off := got.Sub(want); off > tolerance || off < -tolerance {
		t.Errorf("%s is off by %s", what, off)
	}
}

func TestABurstIsDatedBeforeItArrived(t *testing.T) {
	f := newFeeder()
	f.send(noon, 130) // 3 s at once
	f.live(noon, 2*time.Second, usual)
	within(t, "the first frame", f.pieces[0].at, noon.Add(-f.line.duration(130)), 10*time.Millisecond)
	if f.breaks() != 0 {
		t.Errorf("%d breaks", f.breaks())
	}
}

func TestLumpsOfASecondAreNoBreak(t *testing.T) {
	f := newFeeder()
	f.live(noon, time.Minute, 43)
	if f.breaks() != 0 {
		t.Errorf("%d breaks", f.breaks())
	}
}

func TestATimestampJumpIsABreak(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour, time.Second} {
		f := newFeeder()
		now := f.live(noon, 5*time.Second, usual)
		f.pts += jump
		now = f.live(now, 5*time.Second, usual)
		if f.breaks() != 1 {
			t.Errorf("jump of %s: %d breaks", jump, f.breaks())
		}
		within(t, "the end", f.last(), now, 300*time.Millisecond)
	}
}

// Icecast was away: the encoder's timestamps go on as if nothing had happened.
func TestAnOutageInsideOneConnectionMovesTheTimeOfDay(t *testing.T) {
	for _, outage := range []time.Duration{2 * time.Second, time.Minute} {
		f := newFeeder()
		now := f.live(noon, 10*time.Second, usual)
		now = f.live(now.Add(outage), 10*time.Second, usual)
		if f.breaks() != 1 {
			t.Errorf("%d breaks", f.breaks())
		}
		within(t, "the end", f.last(), now, 100*time.Millisecond)
	}
}

func TestAFrozenMachineThatCatchesUpIsNoBreak(t *testing.T) {
	f := newFeeder()
	now := f.live(noon, 10*time.Second, usual)
	const missed = 6 * time.Second // far beyond maxSilence and maxLag
	thaw := now.Add(missed)
	tick := f.line.duration(usual)
	for range int(missed / tick) { // at ten times the speed
		thaw = thaw.Add(tick / 10)
		f.send(thaw, usual)
	}
	f.live(now.Add(missed+time.Second), 5*time.Second, usual)
	if f.breaks() != 0 {
		t.Errorf("%d breaks", f.breaks())
	}
}

// A machine that was busy as the stream began dated it a second late. It stands still once
// more, for as long as a program takes to hand over, and has time again: all frames were
// there, in order, and the date is mended little by little.
func TestARunThatWasDatedTooLateIsMendedWithoutABreak(t *testing.T) {
	f := newFeeder()
	const late = time.Second
	tick := f.line.duration(usual)
	now := noon
	for now.Before(noon.Add(6 * time.Second)) {
		now = now.Add(tick)
		f.send(now.Add(late), usual)
	}
	thaw := now.Add(2500 * time.Millisecond)
	for now.Before(thaw) {
		now = now.Add(tick)
		f.send(thaw, usual)
	}
	now = f.live(now, time.Minute, usual)
	if f.breaks() != 0 {
		t.Errorf("%d breaks", f.breaks())
	}
	within(t, "the end", f.last(), now, maxSlew)
	for i := 1; i < len(f.pieces); i++ {
		before := f.pieces[i-1]
		within(t, "a piece", f.pieces[i].at, before.at.Add(f.line.duration(len(before.frames))), maxSlew+time.Millisecond)
	}
}

// A restarted bridge first gets the burst, most of which was relayed already.
func TestABurstAfterARestartIsNotHeardTwice(t *testing.T) {
	f := newFeeder()
	now := f.live(noon, 20*time.Second, usual)
	before := f.last()
	f.line.restart(testRate)
	f.pieces, f.pts = nil, 0
	now = now.Add(time.Second) // the restart took a second
	f.send(now, 172)           // 4 s of burst
	f.live(now, 5*time.Second, usual)
	if len(f.pieces) == 0 || !f.pieces[0].fresh {
		t.Fatal("no run after the restart")
	}
	within(t, "the new run's start", f.pieces[0].at, before, 50*time.Millisecond)
}

func TestDriftIsFollowedWithoutABreak(t *testing.T) {
	f := newFeeder()
	now := noon
	for range 20000 { // half an hour of a source 0.1 % slow
		now = now.Add(f.line.duration(usual) * 1001 / 1000)
		f.send(now, usual)
	}
	if f.breaks() != 0 {
		t.Errorf("%d breaks", f.breaks())
	}
	within(t, "the end", f.last(), now, 200*time.Millisecond)
}

// Whatever arrives whenever: within a run no frame is lost, and its time of
// day follows from the count of samples, but for the slewing.
func TestARunLosesNoFrameAndKeepsItsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFeeder()
		now, sent := noon, 0
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "wait ms")) * time.Millisecond)
			frames := rapid.IntRange(1, 60).Draw(t, "frames")
			if rapid.IntRange(0, 50).Draw(t, "jump") == 0 {
				f.pts += time.Duration(rapid.IntRange(-5000, 5000).Draw(t, "by ms")) * time.Millisecond
			}
			f.send(now, frames)
			sent += frames
		}
		f.pieces = append(f.pieces, f.line.settle()...)
		relayed := 0
		var expected time.Time
		for _, p := range f.pieces {
			relayed += len(p.frames)
			if off := p.at.Sub(expected); !p.fresh && (off > maxSlew || off < -maxSlew) {
				t.Fatalf("time jumps by %s inside a run", off)
			}
			expected = p.at.Add(f.line.duration(len(p.frames)))
		}
		if relayed != sent {
			t.Fatalf("%d frames sent, %d relayed", sent, relayed)
		}
	})
}
