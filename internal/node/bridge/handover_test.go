package bridge_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/mpeg4audio"
	"github.com/bluenviron/mediacommon/v2/pkg/formats/fmp4"
	"github.com/bluenviron/mediacommon/v2/pkg/formats/mpegts"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// witness passes on what the bridge sends to the relay and keeps a copy.
type witness struct {
	mu   sync.Mutex
	sent bytes.Buffer
}

// stand has the witness between two sockets for one connection.
func (w *witness) stand(t *testing.T, from, to string) {
	t.Helper()
	l, err := net.Listen("unix", from)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Background(t, func(ctx context.Context) error {
		stop := context.AfterFunc(ctx, func() { _ = l.Close() })
		defer stop()
		in, err := l.Accept()
		if err != nil {
			return nil // the test has ended
		}
		out, err := net.Dial("unix", to)
		if err != nil {
			return errors.Join(err, in.Close())
		}
		ended := context.AfterFunc(ctx, func() { _, _ = in.Close(), out.Close() })
		defer ended()
		_, err = io.Copy(out, io.TeeReader(in, w))
		if ctx.Err() != nil {
			return nil
		}
		return err
	})
}

func (w *witness) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent.Write(p)
}

// stream is what was sent, up to the last PES packet that began: that one may not be whole.
func (w *witness) stream() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	const packet, starts, audio = 188, 0x41, 0x00 // PID 0x100
	all := w.sent.Bytes()
	for at := len(all)/packet*packet - packet; at > 0; at -= packet {
		if all[at+1] == starts && all[at+2] == audio {
			return bytes.Clone(all[:at])
		}
	}
	return nil
}

// The relay is replaced under a bridge, a listener and a player that is a program: all that
// the bridge has encoded is heard, to the sample, and nothing says that anything happened.
func TestARelayThatHandsOverIsHeardWithoutAGap(t *testing.T) {
	t.Parallel()
	source := newFakeIcecast(t, encodeTones(t))
	c := newPlaces(t)
	c.handover, c.behind = testkit.NewHandover(t), "relay"
	c.startRelay(t)
	w := &witness{}
	w.stand(t, filepath.Join(c.dir, "p"), filepath.Join(c.dir, "relay"))
	c.startBridge(t, source.URL+"/main", anyStall)
	c.playing(t)
	l := newListener(t, c.address)
	l.follow(t, "music", func() bool { return len(l.pieces) >= 2 })
	l.pieces = l.pieces[len(l.pieces)-1:] // a relay that was held up in the burst may have broken before
	before := c.relay.Snapshot().Discontinuities
	played := make(chan []int16, 1)
	go func() { played <- decode(t, nil, "-t", "8", "-i", "http://"+c.address+"/main/index.m3u8") }()
	for range 3 {
		c.handover.Order()
		c.stop()
		moved := c.progress.Moved()
		testkit.Eventually(t, "the encoder going on", func() bool { return c.progress.Moved().After(moved) })
		c.handover = c.handover.Next()
		c.startRelay(t)
		have := len(l.pieces)
		l.follow(t, "two more segments", func() bool { return len(l.pieces) >= have+2 })
	}
	samples := testkit.Receive(t, "a player's eight seconds", played)
	heardBreak := slices.ContainsFunc(l.pieces[1:], func(p piece) bool { return p.fresh })
	if now := c.relay.Snapshot().Discontinuities; heardBreak || now != before || l.lost() > time.Millisecond || len(c.starts()) != 1 {
		t.Errorf("a break is heard: %v, the relay counts %d after %d, %s lost by the programme date-time, the bridge was started %d times",
			heardBreak, now, before, l.lost(), len(c.starts()))
	}
	stream := w.stream()
	sent, heard := frames(t, stream), samplesOf(t, l.pieces)
	first := slices.Index(sent, heard[0])
	if first < 0 || len(sent) < first+len(heard) || !slices.Equal(sent[first:first+len(heard)], heard) {
		t.Fatalf("%d frames heard from the %d. of %d sent on, and they are not the same", len(heard), first, len(sent))
	}
	// The same frames in a stream without packets and times. Both decodings begin at the same
	// one: where the encoder left noise out, a decoder makes up its own from there on.
	reference, whole := pcm(t, "aac", adts(t, heard)), pcm(t, "mp4", l.file())
	if len(whole) != 1024*len(heard) || !slices.Equal(whole, reference) {
		t.Errorf("%d samples of %d frames, and the same as what the bridge encoded: %v", len(whole), len(heard), slices.Equal(whole, reference))
	}
	if len(samples) != 8*listenRate || longestSilence(listenTo(samples)) > 0 {
		t.Errorf("a player takes %d samples, want %d: %v", len(samples), 8*listenRate, listenTo(samples))
	}
}

// frames are the AAC frames of an MPEG-TS.
func frames(t *testing.T, stream []byte) (out []string) {
	t.Helper()
	reader := &mpegts.Reader{R: bytes.NewReader(stream)}
	if err := reader.Initialize(); err != nil {
		t.Fatal(err)
	}
	reader.OnDecodeError(func(err error) { t.Error(err) })
	reader.OnDataMPEG4Audio(reader.Tracks()[0], func(_ int64, aus [][]byte) error {
		for _, au := range aus {
			out = append(out, string(au))
		}
		return nil
	})
	for {
		if err := reader.Read(); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// samplesOf are the AAC frames of segments.
func samplesOf(t *testing.T, pieces []piece) (out []string) {
	t.Helper()
	for _, p := range pieces {
		var parts fmp4.Parts
		if err := parts.Unmarshal(p.data); err != nil {
			t.Fatal(err)
		}
		for _, s := range parts[0].Tracks[0].Samples {
			out = append(out, string(s.Payload))
		}
	}
	return out
}

// adts writes the bridge's frames one after another.
func adts(t *testing.T, frames []string) []byte {
	t.Helper()
	var packets mpeg4audio.ADTSPackets
	for _, f := range frames {
		packets = append(packets, &mpeg4audio.ADTSPacket{
			Type: mpeg4audio.ObjectTypeAACLC, SampleRate: sourceRate, ChannelConfig: 2, AU: []byte(f),
		})
	}
	out, err := packets.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// pcm decodes AAC to the left channel, every sample of it. ffmpeg warns of damaged packets
// and frames, and of times that do not go on: it must say nothing.
func pcm(t *testing.T, format string, stream []byte) (out []int16) {
	t.Helper()
	var said bytes.Buffer
	raw, err := proc.Output(t.Context(), proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Stdin: bytes.NewReader(stream), Stderr: &said,
		Args: []string{"-hide_banner", "-loglevel", "warning", "-f", format, "-i", "pipe:0", "-af", "pan=mono|c0=c0", "-f", "s16le", "-"},
	}, 64<<20)
	if err != nil || said.Len() > 0 {
		t.Errorf("decode: %v\n%s", err, said.String())
	}
	for ; len(raw) >= 2; raw = raw[2:] {
		out = append(out, int16(binary.LittleEndian.Uint16(raw)))
	}
	return out
}
