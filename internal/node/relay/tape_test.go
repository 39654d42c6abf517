package relay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/bluenviron/mediacommon/v2/pkg/formats/mpegts"
	"github.com/bluenviron/mediacommon/v2/pkg/formats/mpegts/codecs"
	"pgregory.net/rapid"
)

// broken is a stream that is read in lumps, and is left after some bytes.
type broken struct {
	rest  []byte
	lump  func() int
	until int // bytes to errLeaving
}

func (b *broken) Read(p []byte) (int, error) {
	if b.until == 0 && len(b.rest) > 0 {
		return 0, errLeaving
	}
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), b.lump(), b.until)], b.rest)
	b.rest, b.until = b.rest[n:], b.until-n
	return n, nil
}

type heardFrames struct {
	times  []int64 // one each PES packet
	counts []int
	frames []string
}

// parse does what Server.read does with a tape.
func (h *heardFrames) parse(t *tape, c *clock) error {
	reader := &mpegts.Reader{R: t}
	if err := reader.Initialize(); err != nil {
		return err
	}
	track := reader.Tracks()[0]
	t.begins(reader.Tracks())
	reader.OnDataMPEG4Audio(track, func(pts int64, frames [][]byte) error {
		h.times, h.counts = append(h.times, c.decode(pts)), append(h.counts, len(frames))
		for _, f := range frames {
			h.frames = append(h.frames, string(f))
		}
		return nil
	})
	for {
		if err := reader.Read(); err != nil {
			return err
		}
	}
}

// numbered is MPEG-TS whose frames carry their numbers. Lengths of PES packets may be left
// out, as they are for video, and something else may come between two packets.
func numbered(t *rapid.T) (stream []byte, sent heardFrames) {
	var to bytes.Buffer
	track := &mpegts.Track{Codec: &codecs.MPEG4Audio{Config: stereo}}
	writer := &mpegts.Writer{W: &to, Tracks: []*mpegts.Track{track}}
	if err := writer.Initialize(); err != nil {
		t.Fatal(err)
	}
	const begin = 1<<33 - 90000 // it wraps
	pts := int64(begin)
	for range rapid.IntRange(2, 40).Draw(t, "PES packets") {
		batch := make([][]byte, rapid.IntRange(1, 6).Draw(t, "frames"))
		for i := range batch {
			batch[i] = fmt.Appendf(nil, "%08d%s", len(sent.frames), bytes.Repeat([]byte{byte(i)}, rapid.IntRange(0, 700).Draw(t, "bytes")))
			sent.frames = append(sent.frames, string(batch[i]))
		}
		sent.times, sent.counts = append(sent.times, pts-begin), append(sent.counts, len(batch))
		if err := writer.WriteMPEG4Audio(track, pts&(1<<33-1), batch); err != nil {
			t.Fatal(err)
		}
		pts += int64(len(batch)) * samplesPerFrame * 90000 / testRate
	}
	endless := rapid.Bool().Draw(t, "without lengths")
	for one := range slices.Chunk(to.Bytes(), packetSize) {
		p := packet(one)
		if endless && p.pid() == track.PID && p.starts() {
			p.payload()[4], p.payload()[5] = 0, 0
		}
		if rapid.IntRange(0, 20).Draw(t, "noise") == 0 {
			stream = append(stream, "noise"...)
		}
		stream = append(stream, p...)
	}
	return stream, sent
}

// A stream that is left at any byte, as often as may be, is heard whole: each frame once
// and in order, and its time goes on.
func TestATapeLosesAndRepeatsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream, sent := numbered(t)
		var heard heardFrames
		source := &broken{rest: stream, lump: func() int { return rapid.IntRange(1, 3000).Draw(t, "lump") }}
		var left []byte
		var told legacyClock
		for err := errLeaving; errors.Is(err, errLeaving); {
			source.until = rapid.IntRange(0, max(1, len(stream)/3)).Draw(t, "left after")
			read := &tape{source: source, ahead: left}
			c := told.revive()
			err = heard.parse(read, &c)
			left, told = read.left(), legacyClock{Last: c.last, At: c.at, Begun: c.begun}
			if err != nil && !errors.Is(err, errLeaving) && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
		}
		if !slices.Equal(heard.frames, sent.frames) || !slices.Equal(heard.counts, sent.counts) || !slices.Equal(heard.times, sent.times) {
			t.Fatalf("sent %d frames at %v, heard %d at %v", len(sent.frames), sent.times, len(heard.frames), heard.times)
		}
	})
}

// The same for a stream left at each of its packets, and in the middle of each.
func TestATapeIsLeftAtEveryPacket(t *testing.T) {
	stream := recorded(t)[:120*packetSize]
	var whole heardFrames
	if err := whole.parse(&tape{source: bytes.NewReader(stream)}, &clock{}); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	for at := 0; at < len(stream); at += packetSize / 2 {
		var heard heardFrames
		first, c := &tape{source: &broken{rest: stream, lump: func() int { return 1000 }, until: at}}, clock{}
		if err := heard.parse(first, &c); !errors.Is(err, errLeaving) {
			t.Fatal(err)
		}
		c = legacyClock{Last: c.last, At: c.at, Begun: c.begun}.revive()
		second := &tape{source: bytes.NewReader(stream[at:]), ahead: first.left()}
		if err := heard.parse(second, &c); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if !slices.Equal(heard.frames, whole.frames) || !slices.Equal(heard.times, whole.times) {
			t.Fatalf("left after %d bytes: %d frames of %d", at, len(heard.frames), len(whole.frames))
		}
	}
}

// What is remembered does not grow with the stream.
func TestATapeRemembersOnePacketOfAudioAtMost(t *testing.T) {
	stream := bytes.Repeat(recorded(t), 3)
	read := &tape{source: bytes.NewReader(stream)}
	var heard heardFrames
	if err := heard.parse(read, &clock{}); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if n := len(read.left()); n > 40*packetSize {
		t.Errorf("%d bytes of %d", n, len(stream))
	}
}
