package outward

import (
	"testing"

	"github.com/athir-radio/athir/internal/onair/guard"
)

// Listeners get an alert without its cause; whoever set up a webhook gets it whole.
func TestWebhooksGetTheCauseOfAnAlarm(t *testing.T) {
	raised := guard.Alert{Kind: guard.Gone, State: "raised", Text: "no audio", At: 7, Cause: "dial tcp 10.0.0.2:8005"}
	if m := alarmMessage(raised); m.Event != eventDeadAir || m.Key != "gone 7" || m.Data != (alarmData{"gone", "no audio: dial tcp 10.0.0.2:8005"}) {
		t.Errorf("raised: %+v", m)
	}
	if m := alarmMessage(guard.Alert{Kind: guard.Gone, State: "cleared", Text: "well again", At: 9}); m.Event != eventAirBack || m.Data != (alarmData{"gone", "well again"}) {
		t.Errorf("cleared: %+v", m)
	}
}
