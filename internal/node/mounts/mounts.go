// Package mounts serves the station's sound in MP3 and AAC on mounts of the streaming server
// beside the main one, for players that know no Ogg: a car radio, a speaker, a directory.
//
//	Icecast /main ──Ogg──► ffmpeg ──pipe──► Feed ──source──► Icecast /main.mp3
//
// An encoder reads the main mount as a listener does, and writes frames to its standard
// output; a Feed sends them to the streaming server and holds the mount while the encoder is
// away. It starts no encoder: node/supervise does.
package mounts

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/node/bridge"
)

// The codecs, which are the extensions of the mounts' names, too.
const (
	MP3 = "mp3"
	AAC = "aac"
)

// Mount is what is served on a mount: stereo, at a constant bitrate where it is MP3.
type Mount struct {
	Codec string
	Kbps  int // 24 to 320; in MP3 one of Bitrates
}

// Bitrates are those of MP3 in kbit/s that a mount may have: of MPEG-2 below lowRate.
func Bitrates() []int { return slices.Concat(mpeg2Bitrates[3:], mpeg1Bitrates[5:]) }

// Least and Most bound the bitrate, in kbit/s.
const (
	Least = 24
	Most  = 320
)

// lowRate is the bitrate in kbit/s below which half the sampling rate sounds better: there is
// not enough for what is above 10 kHz.
const lowRate = 64

// Rate is the sampling rate in Hz.
func (m Mount) Rate() int {
	if m.Kbps < lowRate {
		return 22_050
	}
	return 44_100
}

// Type is the media type of the stream.
func (m Mount) Type() string {
	if m.Codec == MP3 {
		return "audio/mpeg"
	}
	return "audio/aac"
}

// agent is how the streaming server lists the encoder, as one of the station's own parts.
const agent = "athir-mount"

// stall is how long the main mount may send nothing before the encoder connects anew.
const stall = 5 * time.Second

// Encoder is the program that encodes a mount from the main one at an address; the name of the
// mount, "main.mp3", tells it from others. What it writes goes to the feed.
func Encoder(m Mount, main, name string, feed *Feed) proc.Spec {
	args := []string{"-hide_banner", "-nostdin", "-loglevel", "warning", "-nostats"}
	args = append(args, bridge.Input(Source(main, name), agent, stall)...)
	args = append(args, "-map", "0:a:0", "-vn", "-sn", "-dn", "-map_metadata", "-1",
		"-af", "asetpts=N/SR/TB", // see bridge.Spec
		"-ac", "2", "-ar", strconv.Itoa(m.Rate()), "-b:a", fmt.Sprintf("%dk", m.Kbps))
	if m.Codec == MP3 {
		// A stream has no place for the frame in which a file's length and gains are.
		args = append(args, "-c:a", "libmp3lame", "-write_xing", "0", "-id3v2_version", "0", "-f", "mp3")
	} else {
		args = append(args, "-c:a", "aac", "-f", "adts")
	}
	return proc.Spec{
		Name: "encoder of " + name, Path: "ffmpeg", Nice: proc.Air, Grace: time.Second, Stdout: feed,
		Args: append(args, "-flush_packets", "1", "pipe:1"),
	}
}

// Source is where an encoder reads: the main mount, and a query, which the streaming server
// ignores, by which the encoder is found among the machine's processes.
func Source(main, name string) string { return main + "?for=" + name }
