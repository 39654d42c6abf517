package input

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

// Demuxer is ffmpeg's demuxer for a content type, as encoders and browsers state it; it is
// never guessed from names. Errors: station.ErrInvalid.
func Demuxer(contentType string) (string, error) {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind, _, _ = strings.Cut(strings.ToLower(contentType), ";")
		kind = strings.TrimSpace(kind)
	}
	switch kind {
	case "audio/mpeg", "audio/mp3", "audio/mpa", "audio/x-mpeg":
		return "mp3", nil
	case "application/ogg", "audio/ogg", "video/ogg", "audio/opus", "audio/vorbis":
		return "ogg", nil
	case "audio/aac", "audio/aacp", "audio/x-aac":
		return "aac", nil
	case "audio/webm", "video/webm", "audio/x-matroska", "video/x-matroska":
		return "matroska", nil
	case "audio/mp4", "video/mp4", "audio/x-m4a":
		return "mov", nil
	case "audio/flac", "audio/x-flac":
		return "flac", nil
	case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave":
		return "wav", nil
	}
	return "", fmt.Errorf("content-type: %.40q is not live audio: send audio/mpeg, application/ogg, audio/aac, audio/webm, audio/mp4, audio/flac or audio/wav: %w", kind, station.ErrInvalid)
}

// Push is an encoder's audio as it is sent to us.
type Push struct {
	Body io.Reader
	Type string // its content type
}

// Run decodes until the encoder ends, which is io.EOF, or anything goes wrong.
func (p *Push) Run(ctx context.Context, out io.Writer) error {
	demuxer, err := Demuxer(p.Type)
	if err != nil {
		return err
	}
	codec, body, err := codecOf(demuxer, p.Body)
	if err != nil {
		return err
	}
	// Without "nobuffer": it throws away what was read to find out what comes, which is the
	// first third of a second.
	args := append([]string{"-protocol_whitelist", "pipe"}, probing(demuxer)...)
	args = append(args, codec...)
	fast := &pace{to: out}
	return decode(ctx, "push", append(args, "-f", demuxer, "-i", "pipe:0"), nil, body, fast)
}

// probing is as little as each demuxer needs to tell what comes: what it reads ahead is
// time until the first sound.
func probing(demuxer string) []string {
	switch demuxer {
	case "mp3", "aac":
		return []string{"-probesize", "512", "-analyzeduration", "0"}
	}
	return []string{"-probesize", "32768", "-analyzeduration", "0"}
}

// headLen is how much of a stream is looked at to tell Opus from Vorbis.
const headLen = 4096

// codecOf chooses libopus where the stream is Opus: ffmpeg's own decoder is 20 dB off on
// voices (SILK).
func codecOf(demuxer string, in io.Reader) (args []string, body io.Reader, err error) {
	if demuxer != "ogg" && demuxer != "matroska" {
		return nil, in, nil
	}
	var begin []byte
	buf := make([]byte, headLen)
	for len(begin) < headLen {
		n, err := in.Read(buf[:headLen-len(begin)])
		begin = append(begin, buf[:n]...)
		if err != nil && n == 0 {
			if len(begin) == 0 {
				return nil, nil, err
			}
			break
		}
		switch {
		case bytes.Contains(begin, []byte("OpusHead")), bytes.Contains(begin, []byte("A_OPUS")):
			args = []string{"-c:a", "libopus"}
			fallthrough
		case bytes.Contains(begin, []byte("vorbis")), bytes.Contains(begin, []byte("FLAC")), bytes.Contains(begin, []byte("A_VORBIS")), bytes.Contains(begin, []byte("Speex")):
			return args, rest{io.MultiReader(bytes.NewReader(begin), in), in}, nil
		}
	}
	return nil, rest{io.MultiReader(bytes.NewReader(begin), in), in}, nil
}

// rest reads on where a head was looked at, and can still be stopped.
type rest struct {
	io.Reader
	of io.Reader
}

func (r rest) Stop() {
	if s, ok := r.of.(interface{ Stop() }); ok {
		s.Stop()
	}
}

const (
	bytesPerSecond = live.Rate * live.Channels * 2
	// tooFast is by how much audio may be ahead of the time that has passed, madeUp by how
	// much it may be behind, to come at once later.
	tooFast, madeUp = 30 * time.Second, time.Minute
	// lenient is how much faster time is taken to pass, as one part of so many: sound cards
	// may be a tenth of that fast, which adds up over the days that an encoder sends.
	lenient = 100
)

// pace refuses a sender that is far faster than its audio plays.
type pace struct {
	to    io.Writer
	last  time.Time
	ahead time.Duration // of the time that has passed
}

func (p *pace) Write(b []byte) (int, error) {
	now := time.Now()
	if !p.last.IsZero() {
		passed := now.Sub(p.last)
		p.ahead = max(p.ahead-passed-passed/lenient, -madeUp)
	}
	p.last = now
	p.ahead += time.Duration(len(b)) * time.Second / bytesPerSecond
	if p.ahead > tooFast {
		return 0, ErrTooFast
	}
	return p.to.Write(b)
}
