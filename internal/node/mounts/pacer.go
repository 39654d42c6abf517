package mounts

import "time"

// A listener of a mount is never sent more than was heard at the station, or its player would
// lag behind ever after; nor less for long, or it would give up:
//
//	what comes of the encoder             | what is sent
//	--------------------------------------|-------------------------------------------------
//	frames, as they are encoded           | they
//	nothing                               | nothing for as long as listeners have something
//	                                      | to play, then silence in real time
//	the past at once, of one that begins  | its end, as much as listeners lack
//	a backlog, of one that was held up    | likewise
//
// So an encoder that ends and is back within two seconds is not noticed: the streaming server
// sends it what it missed.
type pacer struct {
	mount Mount
	zero  time.Time // when the first frame was due
	sent  time.Duration
	last  time.Time // when the last frame came of the encoder; of the first call where none did
	drift time.Time // when zero was last moved

	first     bool      // nothing has been sent: all that is gathered is, and none of it was due before
	gathering bool      // an encoder begins, or goes on after a hole
	since     time.Time // its first frame came; zero: it has not
	gathered  [][]byte
}

const (
	// still is for how long listeners have something to play: the streaming server sends
	// each more than two seconds at once.
	still = 2 * time.Second
	// gatherFor is how long after its first frame an encoder's burst is over.
	gatherFor = 500 * time.Millisecond
	// ahead is how much more than is due may be sent.
	ahead = 1500 * time.Millisecond
	// slew is by how much the clock of the sound may differ from this machine's: one part in
	// so many.
	slew = 1000
)

func newPacer(m Mount, now time.Time) *pacer {
	return &pacer{mount: m, zero: now, last: now, drift: now, first: true, gathering: true}
}

// begins says that the next frames are those of another encoder.
func (p *pacer) begins() {
	p.gathering, p.since = true, time.Time{}
}

// lacking is how much listeners lack; negative: they have more than is due.
func (p *pacer) lacking(now time.Time) time.Duration { return now.Sub(p.zero) - p.sent }

// silentFor is how long ago the encoder's last frame came.
func (p *pacer) silentFor(now time.Time) time.Duration { return now.Sub(p.last) }

// next returns what is to be sent now that these frames have come.
func (p *pacer) next(now time.Time, came [][]byte) (out [][]byte) {
	if len(came) > 0 {
		if !p.gathering && (p.silentFor(now) > still || p.lacking(now) < -ahead) {
			p.begins()
		}
		p.last = now
		if p.gathering && p.since.IsZero() {
			p.since = now
		}
	}
	if !p.gathering {
		out = came
	} else if p.gathered = append(p.gathered, came...); !p.since.IsZero() && now.Sub(p.since) >= gatherFor {
		out = p.enough(now)
	}
	p.sent += time.Duration(len(out)) * p.mount.lasts()
	for !p.first && p.lacking(now) > still {
		out = append(out, p.mount.silence())
		p.sent += p.mount.lasts()
	}
	p.follow(now)
	return out
}

// enough is the end of what was gathered, as much as listeners lack.
func (p *pacer) enough(now time.Time) [][]byte {
	all := p.gathered
	p.gathered, p.gathering = nil, false
	if p.first { // what the mount keeps for its next listeners is filled with it
		p.first = false
		p.zero = now.Add(-time.Duration(len(all)) * p.mount.lasts())
		return all
	}
	n := int(max(0, p.lacking(now)) / p.mount.lasts())
	return all[max(0, len(all)-n):]
}

// follow lets the clock follow that of the sound, slowly: two never run alike, and after a day
// what is due would be a second off.
func (p *pacer) follow(now time.Time) {
	most := now.Sub(p.drift) / slew
	p.zero = p.zero.Add(min(max(p.lacking(now), -most), most))
	p.drift = now
}
