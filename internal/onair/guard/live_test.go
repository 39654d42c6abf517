package guard

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// turns changes what is on air and what is heard at once.
func (s *studio) turns(to Source, sound string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onAir, s.sound = to, sound
}

// hears is how much later than the engine plays it the guard hears a change here.
const hears = 1200 * time.Millisecond

// A presenter who is muted and stops, or whose tone went on and on, is no fault of the
// station: the song that follows is not cut off, however long it was, and although the ear
// hears the end of the live sound for a while after the engine is back.
func TestWhatALiveSourceSentIsNotHeldAgainstTheRotation(t *testing.T) {
	for _, sound := range []string{hush, drum} {
		for _, lasts := range []time.Duration{5 * time.Second, 12 * time.Second, 29 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				s := newStudio(tune, "")
				g := s.runs(t)
				s.turns(Live, sound)
				time.Sleep(lasts)
				s.turns(Rotation, sound)
				time.Sleep(hears)
				s.put(tune)
				time.Sleep(time.Minute)
				if len(s.alerts()) > 0 || len(s.taken()) > 0 || g.Totals().Dead > 0 {
					t.Errorf("%s of %s: told %+v, took %v, counts %s", lasts, sound, s.alerts(), s.taken(), g.Totals().Dead)
				}
			})
		}
	}
}

// A rotation that is silent after a live source is dead air, counted from the return.
func TestSilenceAfterALiveSourceIsDeadAir(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStudio(tune, Repush)
		s.runs(t)
		s.turns(Live, hush)
		time.Sleep(20 * time.Second)
		s.turns(Rotation, hush)
		returned := time.Now()
		testkit.Eventually(t, "the alarm is cleared", func() bool { return len(s.alerts()) == 2 })
		a := s.alerts()[0]
		raised := time.UnixMilli(a.At).Sub(returned)
		if most := earLate + 3*time.Second + pollEvery + 2*tick; a.Kind != Silence || raised < 3*time.Second || raised > most {
			t.Errorf("%+v after %s", a, raised)
		}
	})
}

// Believed to be live, or to be so again and again, and never heard: the guard holds back
// for no longer than a live source may be silent.
func TestALiveSourceThatIsNeverHeardDoesNotDisarmTheGuard(t *testing.T) {
	for _, flaps := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newStudio(tune, Repush)
			s.runs(t)
			began := time.Now()
			for source := Live; len(s.alerts()) == 0; {
				s.turns(source, hush)
				time.Sleep(time.Second)
				if flaps && source == Live {
					source = Rotation
				} else {
					source = Live
				}
				if time.Since(began) > time.Minute {
					t.Fatal("no alarm in a minute of silence")
				}
			}
			if took := time.Since(began); took < 29*time.Second || took > 38*time.Second {
				t.Errorf("flaps %v: an alarm after %s", flaps, took)
			}
		})
	}
}

// One that is cut off for its silence makes way for a song: that is waited for until it can
// be heard, and not cut off as well.
func TestTheSongAfterALiveSourceThatWasCutOffGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStudio(tune, "")
		s.runs(t)
		s.turns(Live, hush)
		testkit.Eventually(t, "it is cut off", func() bool { return len(s.taken()) == 1 })
		time.Sleep(time.Second) // the engine turns
		s.turns(Rotation, hush)
		time.Sleep(hears)
		s.put(tune)
		testkit.Eventually(t, "the alarm is cleared", func() bool { return len(s.alerts()) == 2 })
		if got := s.taken(); !slices.Equal(got, []Step{DropLive}) {
			t.Errorf("took %v", got)
		}
	})
}
