package record

import (
	"bufio"
	"errors"
	"io"
	"time"
)

// Every frame of a recording is alike: MPEG-1 layer III, 256 kbit/s, 48 kHz, without
// padding, and without a bit reservoir, so that each is decoded by itself and a file may be
// cut and joined between any two.
const (
	kbps         = 256
	frameBytes   = kbps * 1000 / 8 * frameSamples / 48_000 // 768
	frameSamples = 1152
)

// isFrame reports that b begins with a frame's header.
func isFrame(b []byte) bool { return len(b) >= 4 && b[0] == 0xff && b[1] == 0xfb && b[2] == 0xd4 }

// played is how long so many frames play.
func played(frames int64) time.Duration {
	const each = frameSamples * time.Second / 48_000 // 24 ms; in this order two days do not overflow
	return time.Duration(frames) * each
}

// split takes the whole frames from the front of what an encoder wrote; rest is the
// beginning of the next. What is no frame is left out, and counted.
func split(b []byte) (whole, rest []byte, skipped int) {
	at := 0
	for at+frameBytes <= len(b) && isFrame(b[at:]) {
		at += frameBytes
	}
	whole, rest = b[:at:at], b[at:]
	if len(rest) < 4 || isFrame(rest) {
		return whole, rest, 0
	}
	from := 1 // out of step: to the next header
	for from+4 <= len(rest) && !isFrame(rest[from:]) {
		from++
	}
	more, rest, n := split(rest[from:])
	return append(whole, more...), rest, n + from
}

// scan reads a recording from the end of its head: how many frames there are, and where
// the last whole one ends. What a power cut left behind it is not counted.
func scan(r io.Reader) (frames, end int64, err error) {
	in := bufio.NewReaderSize(r, 256<<10)
	at := int64(0)
	for {
		b, err := in.Peek(frameBytes + 4)
		// The last frame before a hole is torn: what follows a whole one is a frame, or nothing.
		if len(b) >= frameBytes && isFrame(b) && (len(b) < frameBytes+4 || isFrame(b[frameBytes:])) {
			frames++
			at += frameBytes
			end = at
			_, _ = in.Discard(frameBytes)
			continue
		}
		if len(b) < frameBytes {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return frames, end, err
		}
		_, _ = in.Discard(1) // a hole: players find the next frame, and so does this
		at++
	}
}
