package desk

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/desk/bus"
	"github.com/athir-radio/athir/internal/live/desk/harbor"
)

// mostLag is how much the clock catches up after the machine had no time for it. What is
// older is left out: the tapes do not hold it either.
const mostLag = 2 * time.Second

// clock ticks the bus every 20 ms of the monotonic clock until ctx ends.
func (d *Desk) clock(ctx context.Context) {
	ticker := time.NewTicker(live.Tick)
	defer ticker.Stop()
	due := time.Now()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if lag := time.Since(due); lag > stall {
			d.stalled(lag)
			// Those who write to the tapes were held up, too: they come first.
			if retry.Pause(ctx, live.Tick/4) != nil {
				return
			}
		}
		now := time.Now()
		if lag := now.Sub(due); lag > mostLag {
			skip := (lag - mostLag).Truncate(live.Tick)
			due = due.Add(skip)
			d.skip(skip)
		}
		due = now.Add(due.Sub(now)) // the same moment by the wall's clock of today, which may have been set
		for ; !due.After(now); due = due.Add(live.Tick) {
			d.tick(due)
		}
		if n%10 == 0 {
			d.mu.Lock()
			d.open()
			d.mu.Unlock()
		}
	}
}

// stall is a lag that is no usual lateness of a timer: the machine is short.
const stall = 3 * live.Tick

func (d *Desk) stalled(lag time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mix.Stalled(lag)
}

// skip counts audio that the clock left out.
func (d *Desk) skip(t time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sent {
		d.skipped += t
	}
}

// tick moves the bus on, and what comes of it to the engine and the recorder.
func (d *Desk) tick(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.mix.Tick(now)
	pcm := bytesOf(f.PCM)
	d.record(f, pcm)
	d.transmit(f, pcm)
	d.tell()
}

// broadcast is what has a recording of its own: a source, and of the phones' pipe who speaks
// by it. What an encoder says of its songs is none.
type broadcast struct{ id, presenter string }

func presented(s live.Source) broadcast {
	if live.Piped(s.URL) {
		return broadcast{s.ID, s.Creator}
	}
	return broadcast{id: s.ID}
}

// record passes the audio on. A fade at the end, and a bed, belong to nobody.
func (d *Desk) record(f bus.Frame, pcm []byte) {
	if one := presented(f.Air); d.recorded != one {
		if d.recorded.id != "" && d.opt.Recorder != nil {
			why := f.Why
			if d.recorded.id == one.id {
				why = "handed over"
			}
			d.opt.Recorder.End(why)
		}
		if d.recorded = one; one.id != "" && d.opt.Recorder != nil {
			d.opt.Recorder.Begin(f.Air, f.Mode)
			d.titled = f.Air
		}
	}
	if air := f.Air; d.recorded.id != "" && d.opt.Recorder != nil && (air.Title != d.titled.Title || air.Creator != d.titled.Creator) {
		d.titled = air
		d.opt.Recorder.Titled(air.Title, air.Creator)
	}
	if d.recorded.id != "" && len(pcm) > 0 && d.opt.Recorder != nil {
		d.opt.Recorder.Write(pcm)
	}
}

// transmit keeps one session warm while there may be something to send, and open while
// there is. Who could be put on the air needs none: the order that does it warms one.
func (d *Desk) transmit(f bus.Frame, pcm []byte) {
	warm := d.order.Air != nil
	if d.session == nil && (f.Open || warm) {
		d.begin()
	}
	switch {
	case d.session == nil: // nothing to send, or the desk is ending
	case f.Open:
		d.session.Open(mountOf(f.Mode))
		d.session.Title(d.titleOf(f.Air))
		d.sent = true
		d.session.Write(pcm)
	case d.sent: // the last of the broadcast
		if len(pcm) > 0 {
			d.session.Write(pcm)
		}
		d.finish()
	case warm:
		d.session.Write(make([]byte, live.FrameBytes))
	default:
		d.finish()
	}
}

// titleOf is what listeners read while a source is on the air, or a show's bed.
func (d *Desk) titleOf(air live.Source) (title, artist string) {
	if air.ID == "" && d.order.Show != nil {
		return d.order.Show.Title, ""
	}
	return air.Title, air.Creator
}

func bytesOf(pcm []int16) []byte {
	out := make([]byte, 0, len(pcm)*2)
	for _, v := range pcm {
		out = binary.LittleEndian.AppendUint16(out, uint16(v))
	}
	return out
}

// begin makes a session. The caller holds mu.
func (d *Desk) begin() {
	if d.all == nil || d.life.Err() != nil {
		return
	}
	var s *harbor.Session
	s = harbor.New(harbor.Options{
		Log: d.opt.Log, Address: d.opt.HarborAddress, Password: d.opt.HarborPassword, Started: d.opt.EncoderStarted,
		Changed: func() { d.connected(s) },
	})
	d.session, d.sent = s, false
	life := d.life
	d.all.Go(func() error {
		_ = s.Run(life)
		d.mu.Lock()
		defer d.mu.Unlock()
		breaks, lost := s.Breaks()
		d.breaks += breaks
		d.lost += lost
		if d.session == s { // it ended with the desk
			d.session = nil
		}
		return nil
	})
}

// finish lets the session send what it has, and end. The next broadcast has its own.
func (d *Desk) finish() {
	d.session.Finish()
	d.session, d.sent = nil, false
	if d.harborUp {
		d.harborUp = false
		d.extra++
	}
}

// connected notes whether the engine takes the bus.
func (d *Desk) connected(s *harbor.Session) {
	up := s.Connected()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session == s && d.harborUp != up {
		d.harborUp = up
		d.extra++
		d.tell()
	}
}
