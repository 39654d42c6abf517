package mounts

import (
	"bytes"
	"strconv"
	"testing"
	"time"
)

// told is a mount whose frames tell what they are: real ones are numbered by what is heard.
type told struct {
	p     *pacer
	now   time.Time
	begun time.Time
	sent  []int // the moment of each frame in the programme, in frames; silence: -1
}

func tell() *told {
	now := time.Now()
	t := &told{now: now, begun: now}
	t.p = newPacer(Mount{MP3, 128}, now)
	return t
}

// moment is which frame of the programme is encoded now.
func (t *told) moment() int { return 1_000_000 + int(t.now.Sub(t.begun)/t.p.mount.lasts()) }

func frames(from, to int) (all [][]byte) {
	for n := from; n < to; n++ {
		all = append(all, strconv.AppendInt(nil, int64(n), 10))
	}
	return all
}

// pass lets time pass; the encoder encodes meanwhile, unless it is away.
func (t *told) pass(d time.Duration, away bool) {
	for end := t.now.Add(d); t.now.Before(end); {
		from := t.moment()
		t.now = t.now.Add(look)
		var came [][]byte
		if !away {
			came = frames(from, t.moment())
		}
		t.send(came)
	}
}

func (t *told) send(came [][]byte) {
	for _, b := range t.p.next(t.now, came) {
		n := -1
		if !bytes.Equal(b, t.p.mount.silence()) {
			n, _ = strconv.Atoi(string(b))
		}
		t.sent = append(t.sent, n)
	}
}

// burst is what the streaming server sends an encoder that begins: the last 2.6 seconds.
func (t *told) burst() {
	t.send(frames(t.moment()-int(2600*time.Millisecond/t.p.mount.lasts()), t.moment()))
}

// holes counts frames that were left out or repeated, and silence.
func (t *told) holes() (missed, repeated, silence int) {
	last := 0
	for _, n := range t.sent {
		switch {
		case n < 0:
			silence++
			continue
		case last > 0 && n > last+1:
			missed += n - last - 1
		case last > 0 && n <= last:
			repeated += last - n + 1
		}
		last = n
	}
	return missed, repeated, silence
}

func TestAnEncoderThatIsBackSoonIsNotNoticed(t *testing.T) {
	a := tell()
	a.burst()
	a.pass(20*time.Second, false)
	for _, away := range []time.Duration{200 * time.Millisecond, time.Second} {
		a.pass(away, true)
		a.p.begins()
		a.burst()
		a.pass(20*time.Second, false)
	}
	missed, repeated, silence := a.holes()
	if missed > 8 || repeated > 8 || silence > 0 { // two restarts, of 0.1 s at most
		t.Errorf("%d frames missed, %d repeated, %d of silence", missed, repeated, silence)
	}
	a.due(t)
}

// due fails where listeners have been sent more or less than was heard at the station.
func (t *told) due(test *testing.T) {
	test.Helper()
	if l := t.p.lacking(t.now); l > 300*time.Millisecond || l < -300*time.Millisecond {
		test.Errorf("listeners lack %s", l)
	}
}

func TestSilenceTakesThePlaceOfAnEncoderThatIsAway(t *testing.T) {
	a := tell()
	a.burst()
	a.pass(20*time.Second, false)
	a.pass(30*time.Second, true)
	missed, repeated, silence := a.holes()
	if lasts := time.Duration(silence) * a.p.mount.lasts(); missed+repeated > 0 || lasts < 27*time.Second || lasts > 29*time.Second {
		t.Errorf("%s of silence; %d frames missed, %d repeated", lasts, missed, repeated)
	}
	if s := a.p.silentFor(a.now); s < 29*time.Second || s > 31*time.Second {
		t.Errorf("it has been silent for %s", s)
	}
	a.p.begins()
	a.burst()
	a.pass(20*time.Second, false)
	a.due(t)
	if last := a.sent[len(a.sent)-1]; last < a.moment()-2 {
		t.Errorf("frame %d is heard at %d", last, a.moment())
	}
}

// One that a signal stopped goes on with all that waited for it: listeners hear the newest.
func TestABacklogDoesNotPutListenersBehind(t *testing.T) {
	a := tell()
	a.burst()
	a.pass(20*time.Second, false)
	from := a.moment()
	a.pass(15*time.Second, true)
	a.send(frames(from, a.moment()))
	a.pass(20*time.Second, false)
	a.due(t)
	if last := a.sent[len(a.sent)-1]; last < a.moment()-2 {
		t.Errorf("frame %d is heard at %d", last, a.moment())
	}
}

// A sound card's clock is never this machine's: nothing is cut and no silence added.
func TestClocksMayDiffer(t *testing.T) {
	for _, parts := range []int{-2000, 2000} { // a second and a half in 50 minutes
		a := tell()
		a.burst()
		n, per := 0, look+look/time.Duration(parts)
		for range int(2 * time.Hour / look) {
			a.now = a.now.Add(look)
			n++
			done := int(time.Duration(n-1) * per / a.p.mount.lasts())
			a.send(frames(2_000_000+done, 2_000_000+int(time.Duration(n)*per/a.p.mount.lasts())))
		}
		a.sent = a.sent[200:]
		if missed, repeated, silence := a.holes(); missed+repeated+silence > 0 {
			t.Errorf("1 in %d: %d frames missed, %d repeated, %d of silence", parts, missed, repeated, silence)
		}
	}
}
