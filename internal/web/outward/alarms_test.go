package outward

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/onair/guard"
)

// rings notes what a bell would be told.
type rings struct{ said []string }

func (r *rings) Raise(k alarm.Kind, cause string, since time.Time) {
	r.said = append(r.said, fmt.Sprintf("raise %s (%s) %d", k, cause, since.UnixMilli()))
}
func (r *rings) Clear(k alarm.Kind) { r.said = append(r.said, "clear "+string(k)) }

// Operators are told of every alert of the guard with its cause, and of its end; each kind of
// the guard's has words.
func TestAlertsRingForOperators(t *testing.T) {
	r := &rings{}
	alert := New(Options{Hooks: &notes{}, Alarms: r}).Alerts(func(string, any) {})
	alert(guard.Event, guard.Alert{Kind: guard.Gone, State: "raised", At: 7, Cause: "refused"})
	alert("another", "event")
	alert(guard.Event, guard.Alert{Kind: guard.Gone, State: "cleared", At: 9})
	if want := []string{"raise gone (refused) 7", "clear gone"}; !slices.Equal(r.said, want) {
		t.Errorf("%q", r.said)
	}
	for _, k := range guard.Kinds() {
		if !slices.Contains(alarm.Kinds(), alarm.Kind(k)) {
			t.Errorf("operators have no words for %s", k)
		}
	}
}
