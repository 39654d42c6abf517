package attach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/station"
)

// Voice is a voice note.
type Voice struct {
	Kind     Kind
	Data     []byte
	Duration time.Duration
}

// Ear measures voice notes, a few at a time: browsers record WebM and MP4 without a
// length, so that some notes must be decoded, and reading the headers of a hostile one
// costs more than that of others.
type Ear struct {
	dir   string
	turns chan struct{}
	queue chan struct{}
}

const (
	reading = 2  // at once
	waiting = 16 // before others are told to come again
)

// NewEar makes an Ear that uses dir for temporary files.
func NewEar(dir string) *Ear {
	return &Ear{dir: dir, turns: make(chan struct{}, reading), queue: make(chan struct{}, reading+waiting)}
}

// Read recognises a voice note and measures it. Errors: station.ErrInvalid,
// station.ErrUnavailable when too many wait, or one of the file system or ffmpeg.
func (e *Ear) Read(ctx context.Context, b []byte) (Voice, error) {
	done, err := e.turn(ctx)
	if err != nil {
		return Voice{}, err
	}
	defer done()
	kind, err := voiceKind(b)
	if err != nil {
		return Voice{}, err
	}
	v := Voice{Kind: kind, Data: b}
	if kind.Ext != "webm" {
		info, err := audiofile.Read(bytes.NewReader(b), int64(len(b)))
		if err == nil && !sounds(kind, info.Format) {
			return Voice{}, refused("a voice note must not hold %s in %s", info.Format, kind.MIME)
		}
		if err == nil {
			v.Duration = info.Duration
		}
	}
	if v.Duration == 0 {
		if v.Duration, err = e.decode(ctx, kind, b); err != nil {
			return Voice{}, err
		}
	}
	if v.Duration > LongestVoice+500*time.Millisecond {
		return Voice{}, refused("the voice note is longer than %d s", int(LongestVoice.Seconds()))
	}
	return v, nil
}

// sounds reports whether browsers play a codec from a container.
func sounds(k Kind, codec string) bool {
	switch k.Ext {
	case "ogg":
		return codec == "opus" || codec == "vorbis"
	case "m4a":
		return codec == "aac"
	case "wav":
		return codec == "pcm" || codec == ""
	}
	return codec == "mp3"
}

// voiceKind recognises a voice note by its first bytes, and refuses video.
func voiceKind(b []byte) (Kind, error) {
	has := func(at int, s string) bool { return len(b) >= at+len(s) && string(b[at:at+len(s)]) == s }
	ext := ""
	switch {
	case has(0, "\x1a\x45\xdf\xa3"):
		if err := audioWebM(b); err != nil {
			return Kind{}, err
		}
		ext = "webm"
	case has(0, "OggS"):
		ext = "ogg"
	case has(4, "ftyp"):
		if filmed(b) {
			return Kind{}, refused("a voice note must not contain video")
		}
		ext = "m4a"
	case has(0, "RIFF") && has(8, "WAVE"):
		ext = "wav"
	case has(0, "ID3"), len(b) > 4 && b[0] == 0xFF && b[1]&0xE0 == 0xE0 && b[1]&0x06 == 0x02 && b[2]>>4 != 0xF && b[2]&0x0C != 0x0C:
		ext = "mp3"
	default:
		return Kind{}, refused("a voice note must be WebM, Ogg, MP4, MP3 or WAV")
	}
	k, _ := KindOf(ext)
	return k, nil
}

// filmed reports whether an MP4 has a video track: a handler box of kind vide.
func filmed(b []byte) bool {
	for {
		i := bytes.Index(b, []byte("hdlr"))
		if i < 0 {
			return false
		}
		if b = b[i+4:]; len(b) >= 12 && string(b[8:12]) == "vide" {
			return true
		}
	}
}

// turn waits until a note may be read. It fails at once when too many wait.
func (e *Ear) turn(ctx context.Context) (done func(), err error) {
	select {
	case e.queue <- struct{}{}:
	default:
		return nil, fmt.Errorf("too many voice notes at once, try again later: %w", station.ErrUnavailable)
	}
	select {
	case e.turns <- struct{}{}:
		return func() { <-e.turns; <-e.queue }, nil
	case <-ctx.Done():
		<-e.queue
		return nil, context.Cause(ctx)
	}
}

func (e *Ear) decode(ctx context.Context, kind Kind, b []byte) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	dir, err := os.MkdirTemp(e.dir, ".voice-*")
	if err != nil {
		return 0, fmt.Errorf("measure voice note: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // swept at the next start
	path := filepath.Join(dir, "note."+kind.Ext)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return 0, fmt.Errorf("measure voice note: %w", err)
	}
	length, err := measured(ctx, kind, path)
	var no *ffmpeg.RefusedError
	if errors.As(err, &no) {
		return 0, refused("the voice note cannot be played: %s", no.Reason)
	}
	var late *ffmpeg.UnfinishedError
	if errors.As(err, &late) {
		return 0, fmt.Errorf("the voice note could not be examined in time, try again later: %w", station.ErrUnavailable)
	}
	return length, err
}

func measured(ctx context.Context, kind Kind, path string) (time.Duration, error) {
	if kind.Ext != "webm" { // whose codec its own header has told
		info, err := ffmpeg.Probe(ctx, path)
		if err != nil {
			return 0, err
		}
		codec := info.Codec
		if len(codec) > 3 && codec[:3] == "pcm" {
			codec = "pcm"
		}
		if !sounds(kind, codec) {
			return 0, refused("a voice note must not hold %s in %s", codec, kind.MIME)
		}
	}
	return ffmpeg.LengthUpTo(ctx, path, LongestVoice+time.Second)
}
