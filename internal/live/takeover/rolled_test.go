package takeover

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/live"
)

// The rows of the table at census, and rolls that are late. A letter is a session; what is
// told is "+a" or "-a", a roll "rtmp ab" or "source ab", and what follows of it is "lost a"
// and "found a".
func TestRollsAreComparedWithWhatIsKnown(t *testing.T) {
	for _, c := range []struct{ what, happens, want string }{
		{"all is known", "+a, rtmp a, rtmp a, rtmp a", ""},
		{"it ended while the relay was away", "+a, +b, rtmp b, rtmp b", "lost a"},
		{"it goes on, and the control plane is another", "rtmp a, rtmp a", "found a"},
		{"a roll from before the arrival", "+a, rtmp, rtmp a, rtmp, rtmp a", ""},
		{"a roll from before the end", "+a, rtmp a, -a, rtmp a, rtmp, rtmp a, rtmp", ""},
		{"the end was told between", "rtmp a, -a, rtmp a", ""},
		{"rolls before and after the arrival", "rtmp a, +a, rtmp a", ""},
		{"it came again between", "+a, rtmp, -a, +a, rtmp, rtmp a", ""},
		{"the desk's roll lacks the relay's", "+a, source, source, rtmp a", ""},
		{"each has its own strangers", "rtmp a, source b, rtmp a, source b", "found a, found b"},
		{"twice in one roll", "rtmp aa, rtmp aa", "found a"},
		{"once in twice", "rtmp aa, rtmp, rtmp aa", ""},
		{"the studio's microphone is the desk's", "+M, source, source", "lost M"},
		{"a phone is nobody's", "+P, source, source, rtmp, rtmp", ""},
	} {
		k, now := newCast(), time.Unix(0, 0)
		var got []string
		for _, what := range strings.Split(c.happens, ", ") {
			verb, sessions, roll := strings.Cut(what, " ")
			protocol := map[string]live.Protocol{"M": live.Internal, "P": live.WHIP}[strings.Trim(what, "+-")]
			if protocol == "" {
				protocol = live.RTMP
			}
			switch {
			case verb[0] == '+':
				k.arrived("LIVE"+what[1:], live.Arrival{Protocol: protocol, Session: what[1:]}, false, now)
				continue
			case verb[0] == '-':
				k.gone(live.Leaving{Session: what[1:]})
				continue
			case !roll:
				sessions = ""
			}
			r := live.Roll{Protocol: live.Protocol(verb)}
			for _, s := range sessions {
				r.Senders = append(r.Senders, live.Arrival{Protocol: r.Protocol, Session: string(s)})
			}
			lost, found := k.rolled(r)
			for _, s := range lost {
				got = append(got, "lost "+s.Session)
				k.gone(live.Leaving{Session: s.Session})
			}
			for _, a := range found {
				got = append(got, "found "+a.Session)
				k.arrived("LIVE"+a.Session, a, false, now)
			}
		}
		slices.Sort(got)
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %q, want %q", c.what, text, c.want)
		}
	}
}
