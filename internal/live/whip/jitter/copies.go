package jitter

import (
	"slices"
	"time"
)

// Copy is what an earlier packet held, carried by a later one (RFC 2198).
type Copy struct {
	Back    int    // how many numbers before its carrier's
	Offset  uint32 // how much earlier its time stamp is
	Samples int    // as those of a Packet
	Payload []byte // kept by the buffer
}

// restore puts copies in the places of packets that are missing. One that fits no hole
// changes nothing, whatever it says: the packet itself may still come, or be asked for.
func (b *Buffer) restore(now time.Duration, carrier entry, copies []Copy) {
	for _, c := range copies {
		if c.Samples <= 0 || c.Samples > mostSamples {
			continue
		}
		e := entry{seq: carrier.seq - int64(c.Back), ts: carrier.ts - int64(c.Offset), samples: int64(c.Samples), payload: c.Payload}
		if !b.fits(e) {
			continue
		}
		missing, asked := b.loss.restored(e.seq)
		if !missing {
			continue
		}
		place := uint64(e.seq) % remembered
		b.seen[place], b.copied[place] = e.seq, !asked
		b.stats.Restored++
		b.take(now, e, false)
	}
}

// fits reports that a packet lies in a hole, by its number as by its time: after what was
// played or waits before it, before what waits after it, and not too late.
func (b *Buffer) fits(e entry) bool {
	if b.phase == idle || e.seq < b.floor || len(b.held) >= mostHeld {
		return false
	}
	i, _ := slices.BinarySearchFunc(b.held, e.ts, func(h entry, ts int64) int { return int(h.ts - ts) })
	if i == len(b.held) || b.held[i].seq <= e.seq || b.held[i].ts < e.end() {
		return false
	}
	if i > 0 && (b.held[i-1].seq >= e.seq || b.held[i-1].end() > e.ts) {
		return false
	}
	if b.phase == filling {
		return i > 0 // a run begins with a packet that came by itself
	}
	back := b.pos - e.ts
	return e.seq > b.lastSeq && !b.leapt(e) && (back <= 0 || e.ts >= b.played && b.delay+span(back) <= b.most)
}
