package rotation

import (
	"fmt"
	"time"
)

// Cause is why it is checked whether the rotation should be rebuilt.
type Cause int

// The triggers of the mission's table *Rotation rebuild*.
const (
	Write     Cause = iota // any ordinary rotation write call
	Watchdog               // the daypart watchdog, every 60 s
	Restart                // the server started
	Purged                 // a content refresh removed files
	Forced                 // POST …/rotation/rebuild or …/skip
	Heartbeat              // a heartbeat or pool-health check
)

// String names the cause.
func (c Cause) String() string {
	names := [...]string{"write", "watchdog", "restart", "purged", "forced", "heartbeat"}
	if c < 0 || int(c) >= len(names) {
		return fmt.Sprintf("Cause(%d)", int(c))
	}
	return names[c]
}

// Situation is all that a decision depends on.
type Situation struct {
	Cause            Cause
	Length, Consumed int // entries of the rotation on air
	RefreshFraction  float64
	StampedDaypart   string // daypart key of the rotation on air
	LiveDaypart      string // daypart key now
	// StampedLists is the list key of the rotation on air, LiveLists that of now.
	StampedLists, LiveLists string
	// OffTime is the result of the function OffTime; zero without clocks.
	OffTime time.Duration
}

// Decision is what to do. Forced bypasses the freshness gate.
type Decision struct {
	Rebuild, Forced bool
	Reason          string // of a rebuild
	Log             string // line to log as it is; empty means none
}

// Decide is the mission's table *Rotation rebuild*:
//
//	write, buffer is empty                      rebuilt
//	write, consumed / length >= REFRESH_FRACTION rebuilt
//	write or watchdog, daypart key differs      rebuilt
//	write or watchdog, list key differs         rebuilt (not in the mission, only with playlists)
//	write or watchdog, a timed event is off     rebuilt (not in the mission, only with clocks)
//	restart                                     rebuilt
//	content refresh purges files                rebuilt, forced
//	rebuild or skip                             rebuilt, forced
//	heartbeat or pool-health check              stable
//	write, none of the above                    stable, logged
func Decide(s Situation) Decision {
	switch s.Cause {
	case Restart:
		return Decision{Rebuild: true, Reason: "restart"}
	case Purged:
		return Decision{Rebuild: true, Forced: true, Reason: "content purged"}
	case Forced:
		return Decision{Rebuild: true, Forced: true, Reason: "forced"}
	case Watchdog, Write:
	default:
		return Decision{}
	}
	switch {
	case s.Cause == Write && s.Length == 0:
		return Decision{Rebuild: true, Reason: "buffer is empty"}
	case s.Cause == Write && float64(s.Consumed) >= s.RefreshFraction*float64(s.Length):
		return Decision{Rebuild: true, Reason: fmt.Sprintf("%d of %d consumed", s.Consumed, s.Length)}
	case s.StampedDaypart != s.LiveDaypart:
		return Decision{Rebuild: true, Reason: fmt.Sprintf("daypart %s", s.LiveDaypart)}
	case s.StampedLists != s.LiveLists:
		return Decision{Rebuild: true, Reason: "playlists by time"}
	case s.OffTime > 0:
		return Decision{Rebuild: true, Reason: fmt.Sprintf("timed event off by %s", s.OffTime.Round(time.Second))}
	case s.Cause == Write:
		return Decision{Log: fmt.Sprintf("Rotation stable (%d/%d consumed)", s.Consumed, s.Length)}
	}
	return Decision{}
}
