// Package whiptest has what tests of live microphones need: speech and tones in Opus
// made by ffmpeg, a network that loses packets, and an ear for what comes out. Only tests
// import it.
package whiptest

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/pion/opus/pkg/oggreader"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// Packets are those of an Opus encoder for what ffmpeg makes of a lavfi source: "sine=440:d=3".
// More arguments go to the encoder: "-application", "voip".
func Packets(t testing.TB, source string, encoder ...string) [][]byte {
	t.Helper()
	args := append([]string{"-nostdin", "-hide_banner", "-loglevel", "error", "-f", "lavfi", "-i", source, "-ar", "48000", "-c:a", "libopus"}, encoder...)
	ogg, err := proc.Output(t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: append(args, "-f", "ogg", "-")}, 32<<20)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := oggreader.NewWith(bytes.NewReader(ogg))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for {
		packet, _, err := r.ParseNextPacket()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(packet, []byte("OpusTags")) {
			out = append(out, bytes.Clone(packet))
		}
	}
	if len(out) < 10 {
		t.Fatalf("ffmpeg made %d packets of %s", len(out), source)
	}
	return out
}

// Redundant is the payload of redundant audio (RFC 2198) that holds a packet of 20 ms and
// the one before it.
func Redundant(kind byte, before, now []byte) []byte {
	const offset = 960
	out := []byte{0x80 | kind, offset >> 6, offset<<2&0xff | byte(len(before)>>8), byte(len(before)), kind}
	return append(append(out, before...), now...)
}
