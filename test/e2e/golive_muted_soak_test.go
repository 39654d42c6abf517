//go:build soak

package e2e

import (
	"net/http"
	"testing"
	"time"
)

// A presenter who is muted for as long as that is allowed, and stops, has been silent on
// purpose: the guard says nothing, and the song that follows is not cut off. On a machine
// that is short the guard has alarms of its own.
func TestSoakAMutedPresenterIsNoDeadAir(t *testing.T) {
	s := liveStation(t, withGuard)
	air := s.listen()
	air.rotates(s, "the rotation before")
	s.calm("at the start")
	before := len(s.alarms())
	id, secret := s.publisher("سارة", true)
	for round, muted := range []time.Duration{12 * time.Second, 45 * time.Second} {
		tone := freeTone + round
		p := s.phone(id+"."+secret, tone)
		air.airs(s, "the phone is heard", tone)
		if code, _, text, err := p.ask(http.MethodPost, p.resource+"/state", "application/json", `{"muted":true}`); err != nil || code/100 != 2 {
			t.Fatalf("mute: %d %s %v", code, text, err)
		}
		p.quiet(true)
		time.Sleep(muted)
		p.hangUp()
		air.rotates(s, "the rotation after the phone")
		time.Sleep(10 * time.Second) // in which the guard would have acted
		if all := s.alarms(); len(all) != before {
			t.Errorf("muted for %s: %+v", muted, all[0])
		}
	}
}
