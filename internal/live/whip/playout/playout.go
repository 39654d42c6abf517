// Package playout turns the packets of one publisher into PCM at the pace of media time:
// jitter buffer, decoder, concealment. It reads no clock and starts nothing; whoever
// calls it keeps the time.
package playout

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/whip/jitter"
	"github.com/athir-radio/athir/internal/live/whip/opus"
	"github.com/athir-radio/athir/internal/live/whip/red"
)

const (
	// quiet is the peak below which a tick may be left out or doubled unheard, -50 dBFS.
	quiet = 0.00316
	// floor is the level shown for silence.
	floor = -120.0
	// window is how many ticks the shown peak looks back, half a second.
	window = 25
)

// Player plays one publisher's packets. It is not safe for use by many goroutines.
type Player struct {
	Buffer *jitter.Buffer

	decoder *opus.Decoder
	conceal concealer
	queue   []float32 // decoded beyond the tick
	calm    bool      // the last tick was quiet, or a hole
	peaks   [window]float32
	at      int
	faults  uint64
	frame   [tick * channels]float32
	out     [live.FrameBytes]byte
}

// New returns a player without packets.
func New(o jitter.Options) *Player {
	return &Player{Buffer: jitter.New(o), decoder: opus.NewDecoder(), conceal: concealer{round: fadeTicks}, calm: true}
}

// Push takes a packet that came at now. What is no Opus is refused before it takes room.
func (p *Player) Push(now time.Duration, ssrc uint32, sequence uint16, timestamp uint32, payload []byte) jitter.Verdict {
	samples, err := opus.Samples(payload)
	if err != nil {
		p.faults++
		return jitter.Refused
	}
	return p.Buffer.Push(now, jitter.Packet{SSRC: ssrc, Sequence: sequence, Timestamp: timestamp, Samples: samples, Payload: payload})
}

// PushRED takes one of redundant audio (RFC 2198), whose blocks are Opus of the payload type
// kind. What is malformed is refused whole; a copy that is no Opus, alone.
func (p *Player) PushRED(now time.Duration, ssrc uint32, sequence uint16, timestamp uint32, payload []byte, kind uint8) jitter.Verdict {
	primary, earlier, err := red.Parse(payload, kind)
	if err != nil {
		p.faults++
		return jitter.Refused
	}
	samples, err := opus.Samples(primary)
	if err != nil {
		p.faults++
		return jitter.Refused
	}
	packet := jitter.Packet{SSRC: ssrc, Sequence: sequence, Timestamp: timestamp, Samples: samples, Payload: primary}
	for _, c := range earlier {
		n, err := opus.Samples(c.Payload)
		if err != nil {
			p.faults++
			continue
		}
		packet.Copies = append(packet.Copies, jitter.Copy{Back: c.Back, Offset: c.Offset, Samples: n, Payload: c.Payload})
	}
	return p.Buffer.Push(now, packet)
}

// Tick returns the live.FrameBytes of the 20 ms that begin at now; nil where there is
// nothing to play. They are valid until the next call.
func (p *Player) Tick(now time.Duration) []byte {
	if p.calm && p.Buffer.Surplus() <= -jitter.Tick {
		p.Buffer.Stall(now)
		return p.hole()
	}
	if !p.Buffer.Tick(now) {
		p.queue = p.queue[:0]
		return p.hole()
	}
	whole := p.pull()
	if whole && p.Buffer.Surplus() >= jitter.Tick && (peak(p.frame[:]) < quiet || p.Buffer.Overfull()) {
		// This tick is left out; where it was not quiet, the joint is crossfaded.
		p.conceal.cut = true
		p.Buffer.Skip()
		whole = p.pull()
	}
	if !whole {
		return p.hole()
	}
	p.conceal.heard(p.frame[:])
	level := peak(p.frame[:])
	p.calm = level < quiet
	return p.send(level)
}

// pull puts the next tick into frame, and reports false where a part of it is missing:
// half a tick is concealed whole, its audio is kept for nothing.
func (p *Player) pull() bool {
	whole := true
	for {
		piece := p.Buffer.Next()
		switch piece.Kind {
		case jitter.Done:
			if len(p.queue) < len(p.frame) {
				whole = false
				p.queue = append(p.queue, make([]float32, len(p.frame)-len(p.queue))...)
			}
			copy(p.frame[:], p.queue)
			p.queue = append(p.queue[:0], p.queue[len(p.frame):]...)
			return whole
		case jitter.Gap:
			whole = false
			p.queue = append(p.queue, make([]float32, piece.Samples*channels)...)
		case jitter.Frame:
			audio, err := p.decoder.Decode(piece.Payload)
			if err != nil {
				p.faults++
				whole = false
				p.queue = append(p.queue, make([]float32, (piece.Samples-piece.Skip)*channels)...)
				continue
			}
			p.queue = append(p.queue, audio[piece.Skip*channels:]...)
		}
	}
}

// hole is a tick for which nothing came.
func (p *Player) hole() []byte {
	p.calm = true
	if !p.conceal.fill(p.frame[:]) {
		p.note(0)
		return nil
	}
	return p.send(peak(p.frame[:]))
}

func (p *Player) send(level float32) []byte {
	p.note(level)
	for i, v := range p.frame {
		binary.LittleEndian.PutUint16(p.out[2*i:], uint16(int16(math.RoundToEven(float64(v)*32767))))
	}
	return p.out[:]
}

func (p *Player) note(level float32) {
	p.peaks[p.at%window] = level
	p.at++
}

// PeakDBFS is the highest sample of the last half second, -120 for none.
func (p *Player) PeakDBFS() float64 {
	var most float32
	for _, v := range p.peaks {
		most = max(most, v)
	}
	if most <= 1e-6 {
		return floor
	}
	return 20 * math.Log10(float64(most))
}

// SSRC is the source of the packets that are played.
func (p *Player) SSRC() uint32 { return p.Buffer.SSRC() }

// Faults is how many packets could not be decoded.
func (p *Player) Faults() uint64 { return p.faults }

func peak(frame []float32) float32 {
	var most float32
	for _, v := range frame {
		most = max(most, v, -v)
	}
	return most
}
