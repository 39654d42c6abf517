package rotation

import "testing"

// The mission's table *Rotation rebuild*, in its order.
func TestDecideFollowsTheRebuildTable(t *testing.T) {
	for _, tc := range []struct {
		name     string
		s        Situation
		rebuild  bool
		forced   bool
		loggedAs string
	}{
		{"ordinary write", Situation{Cause: Write, Length: 120, Consumed: 37}, false, false, "Rotation stable (37/120 consumed)"},
		{"ordinary write, short rotation", Situation{Cause: Write, Length: 60, Consumed: 50}, false, false, "Rotation stable (50/60 consumed)"},
		{"empty buffer", Situation{Cause: Write}, true, false, ""},
		{"one short of the fraction", Situation{Cause: Write, Length: 120, Consumed: 101}, false, false, "Rotation stable (101/120 consumed)"},
		{"the fraction consumed", Situation{Cause: Write, Length: 120, Consumed: 102}, true, false, ""},
		{"all consumed", Situation{Cause: Write, Length: 1, Consumed: 1}, true, false, ""},
		{"watchdog, daypart differs", Situation{Cause: Watchdog, Length: 120, LiveDaypart: "late"}, true, false, ""},
		{"write, daypart differs", Situation{Cause: Write, Length: 120, LiveDaypart: "late"}, true, false, ""},
		{"watchdog, same daypart", Situation{Cause: Watchdog, Length: 120, Consumed: 119}, false, false, ""},
		{"write, a timed event is off", Situation{Cause: Write, Length: 120, Consumed: 3, OffTime: 45e9}, true, false, ""},
		{"watchdog, a timed event is off", Situation{Cause: Watchdog, Length: 120, OffTime: 45e9}, true, false, ""},
		{"heartbeat, a timed event is off", Situation{Cause: Heartbeat, Length: 120, OffTime: 45e9}, false, false, ""},
		{"server restart", Situation{Cause: Restart, Length: 120}, true, false, ""},
		{"content refresh purges files", Situation{Cause: Purged, Length: 120}, true, true, ""},
		{"forced", Situation{Cause: Forced, Length: 120}, true, true, ""},
		{"heartbeat", Situation{Cause: Heartbeat, Length: 120, Consumed: 120, LiveDaypart: "late"}, false, false, ""},
	} {
		tc.s.RefreshFraction, tc.s.StampedDaypart = 0.85, "evening"
		if tc.s.LiveDaypart == "" {
			tc.s.LiveDaypart = "evening"
		}
		d := Decide(tc.s)
		if d.Rebuild != tc.rebuild || d.Forced != tc.forced || d.Log != tc.loggedAs || d.Rebuild != (d.Reason != "") {
			t.Errorf("%s: %+v", tc.name, d)
		}
	}
}
