// Package check says what a file is that a listener sent: what is heard in it, or why it is
// not taken. It reads the file once from start to end, with programs that are bounded in
// time, memory and output and reach nothing but that file. It also judges the texts that
// come with it.
//
// It changes nothing and keeps nothing. It knows no posts, does not compare files with each
// other, and leaves what is a matter of taste to moderators, for whom it makes notes.
package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/mastering"
)

// Want is what a type of post asks for.
type Want struct {
	// Shortest and Longest bound the sound, without the silence at its ends.
	Shortest, Longest time.Duration
	// Music refuses what is only speech.
	Music bool
	// Bytes is how large the file may be; MostBytes when 0.
	Bytes int64
}

// MostBytes is how large a file may be.
const MostBytes = 200 << 20

const (
	// AtEnds is how much silence a file may have at its ends, together.
	AtEnds = time.Minute
	// Within is how long a look may take. A song takes seconds; what is not done then is
	// nobody's fault and may be tried again.
	Within = 5 * time.Minute

	nice = 10 // of the programs and of the arithmetic: the air comes first

	mostChannels = 8
	missing      = time.Second // a file may be so much shorter than its headers say, or 1 %
)

// Finding is what was found in a file that is taken. Peaks, LoudestAt and Spectrum are of the
// sound between Begin and End, which is about what mastering keeps.
type Finding struct {
	Duration   time.Duration // as decoded
	Begin, End time.Duration // of its sound, within it
	Container  string        // ffmpeg's name
	Codec      string
	Rate       int // Hz
	Channels   int
	Integrated float64 // LUFS
	TruePeak   float64 // dBTP
	Silence    float64 // share of the sound that is silent
	Clipped    float64 // share of the samples at full scale, in runs
	Speech     float64 // probability that it is speech without music, 0 to 1
	HasCover   bool
	Notes      []string  // the Note constants that hold
	Peaks      []float64 // the largest samples of 200 parts, 0 to 1
	LoudestAt  time.Duration
	Spectrum   Spectrum
}

// Trimmed is the length of the sound, without the silence at its ends.
func (f Finding) Trimmed() time.Duration { return f.End - f.Begin }

// File looks at the file at path. What is wrong with the file is a *refusal.Refusal. Any
// other error is not the file's fault (the machine, a missing program, ctx, a look that took
// too long), and it may be looked at again. progress, when not nil, gets the share done,
// from 0 to 1.
func File(ctx context.Context, path string, want Want, progress func(share float64)) (Finding, error) {
	late := fmt.Errorf("check %s: not done after %s: %w", path, Within, context.DeadlineExceeded)
	ctx, cancel := context.WithTimeoutCause(ctx, Within, late)
	defer cancel()
	type result struct {
		found Finding
		err   error
	}
	done := make(chan result, 1)
	go func() {
		proc.Politely(nice)
		found, err := inspect(ctx, path, want, progress)
		done <- result{found, err}
	}()
	r := <-done
	return r.found, r.err
}

func inspect(ctx context.Context, path string, want Want, progress func(float64)) (Finding, error) {
	s, headers, err := outside(path, want)
	if err != nil {
		return Finding{}, err
	}
	found, err := inside(ctx, path, s, headers, want, progress)
	var r *refusal.Refusal
	if errors.As(err, &r) && slices.Contains(s.notes, NotePolyglot) && (r.Code == refusal.Damaged || r.Code == refusal.OddRate) {
		err = refuse(refusal.NotAudio, r.Note) // what ffmpeg took for sound was none
	}
	return found, err
}

// inside probes, decodes and judges a file.
func inside(ctx context.Context, path string, s *structure, headers audiofile.Info, want Want, progress func(float64)) (Finding, error) {
	info, err := ffmpeg.Probe(ctx, path)
	if err != nil {
		return Finding{}, unplayable(err)
	}
	promised := promise(headers, info)
	switch {
	case info.SampleRate == 0 || info.Channels == 0:
		return Finding{}, refuse(refusal.NotAudio, "it has neither a sample rate nor channels")
	case info.SampleRate < mastering.LowestRate || info.SampleRate > mastering.HighestRate:
		return Finding{}, refuse(refusal.OddRate, fmt.Sprintf("%d Hz", info.SampleRate))
	case info.Channels > mostChannels:
		return Finding{}, refuse(refusal.OddRate, fmt.Sprintf("%d channels", info.Channels))
	case promised > want.Longest+AtEnds:
		return Finding{}, tooLong(want)
	}
	h, decoded, complaints, err := listen(ctx, path, info, want, progress, max(promised, info.Duration))
	if err != nil {
		return Finding{}, err
	}
	if err := whole(decoded, promised, complaints); err != nil {
		return Finding{}, err
	}
	if r := h.judge(want); r != nil {
		return Finding{}, r
	}
	found := h.finding(info, decoded)
	if want.Music && found.Speech >= speechRefused {
		return Finding{}, &refusal.Refusal{Code: refusal.NotMusic, Share: found.Speech}
	}
	found.Notes = notes(s, info, complaints, h, found.Speech, want)
	return found, nil
}

// outside looks at a file without any program.
func outside(path string, want Want) (*structure, audiofile.Info, error) {
	// Not to follow a link and not to wait for a pipe's writer; neither is a file of ours.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) {
		return nil, audiofile.Info{}, refuse(refusal.NotAudio, "it is not a file")
	}
	if err != nil {
		return nil, audiofile.Info{}, err
	}
	defer f.Close() //nolint:errcheck // only read
	stat, err := f.Stat()
	if err != nil {
		return nil, audiofile.Info{}, err
	}
	most := want.Bytes
	if most == 0 {
		most = MostBytes
	}
	switch {
	case !stat.Mode().IsRegular():
		return nil, audiofile.Info{}, refuse(refusal.NotAudio, "it is not a file")
	case stat.Size() == 0:
		return nil, audiofile.Info{}, refusal.New(refusal.Empty)
	case stat.Size() > most:
		return nil, audiofile.Info{}, &refusal.Refusal{Code: refusal.TooLarge, Limit: most}
	}
	s, err := look(f, stat.Size())
	if err != nil {
		return nil, audiofile.Info{}, err
	}
	headers, err := audiofile.Read(f, stat.Size())
	var broken *audiofile.BrokenError
	var odd *audiofile.OddError
	switch {
	case errors.As(err, &broken) && strings.Contains(broken.Reason, "no audio in it"):
		return s, audiofile.Info{}, nil // video, or nothing: ffprobe can tell
	case errors.As(err, &broken):
		return nil, audiofile.Info{}, refuse(refusal.Truncated, broken.Reason)
	case errors.As(err, &odd):
		return s, audiofile.Info{}, nil
	}
	return s, headers, err
}

// promise is how long the sound is by headers that can be trusted; else 0.
func promise(headers audiofile.Info, info ffmpeg.Info) time.Duration {
	switch {
	case headers.Duration > 0:
		return headers.Duration
	case info.Format == "mp3", info.Format == "aac", info.Format == "amr":
		return 0 // a guess by the bit rate
	}
	return info.Duration
}

func tooLong(want Want) *refusal.Refusal {
	return &refusal.Refusal{Code: refusal.TooLong, Shortest: want.Shortest, Longest: want.Longest}
}

// errEnough ends the decoding of what is too long.
var errEnough = errors.New("longer than it may be")

// listen decodes a file once.
func listen(ctx context.Context, path string, info ffmpeg.Info, want Want, progress func(float64), expected time.Duration) (*heard, time.Duration, ffmpeg.Complaints, error) {
	var complaints ffmpeg.Complaints
	d := ffmpeg.Decoding{Rate: rate(info.SampleRate), Channels: min(info.Channels, 2), Nice: nice, Complaints: &complaints}
	e := newEar(d.Rate, d.Channels)
	// By samples, not by -t: that goes by the file's own times, which need not advance.
	most := int64((want.Longest + AtEnds).Seconds() * float64(d.Rate))
	if expected > want.Longest+AtEnds || expected <= 0 {
		expected = want.Longest
	}
	err := ffmpeg.Decode(ctx, path, d, func(samples []float32) error {
		e.hear(samples)
		if progress != nil {
			progress(min(1, float64(e.frames)/float64(d.Rate)/expected.Seconds()))
		}
		if e.frames > most {
			return errEnough
		}
		return nil
	})
	decoded := time.Duration(float64(e.frames) / float64(d.Rate) * float64(time.Second))
	switch {
	case errors.Is(err, errEnough):
		return nil, 0, complaints, tooLong(want)
	case err != nil && e.frames > 0 && ctx.Err() == nil:
		err = spoilt(err)
	case err != nil:
		err = unplayable(err)
	case e.frames == 0:
		err = refuse(refusal.Damaged, "nothing can be decoded from it")
	}
	if err != nil {
		return nil, 0, complaints, err
	}
	return e.result(), decoded, complaints, nil
}

// rate is one that MP3 has, of the same family, as mastering chooses it.
func rate(of int) int {
	switch {
	case of == 32_000, of == 44_100, of == 48_000:
		return of
	case of%48_000 == 0:
		return 48_000
	}
	return 44_100
}

// unplayable turns a program's refusal into ours.
func unplayable(err error) error {
	var refused *ffmpeg.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	code := refusal.NotAudio
	switch {
	case refused.Reason == ffmpeg.NoSound:
		code = refusal.VideoOnly
	case strings.HasPrefix(refused.Reason, "truncated"):
		code = refusal.Truncated
	case strings.HasPrefix(refused.Reason, "its tags are absurdly"):
		code = refusal.TagsAbsurd
	case refused.Reason == ffmpeg.DiskFault:
		return err // it may pass
	case strings.HasPrefix(refused.Reason, "not readable"), strings.Contains(refused.Reason, "crashed"), strings.Contains(refused.Reason, "memory"):
		code = refusal.Damaged
	}
	return refuse(code, refused.Reason)
}

// spoilt is a decoder's end after it had decoded something.
func spoilt(err error) error {
	var refused *ffmpeg.RefusedError
	if errors.As(err, &refused) && refused.Reason != ffmpeg.DiskFault {
		return refuse(refusal.Damaged, refused.Reason)
	}
	return err
}

// whole refuses a file of which less can be decoded than its headers promise, or with more
// errors than an odd packet at a cut: three, and one more every ten seconds.
func whole(decoded, promised time.Duration, complaints ffmpeg.Complaints) error {
	if complaints.Lines > mostComplaints+int(decoded/(10*time.Second)) {
		return refuse(refusal.Damaged, fmt.Sprintf("%d errors; the first: %s", complaints.Lines, complaints.First))
	}
	if lost := promised - decoded; lost > missing && lost > promised/100 {
		return refuse(refusal.Truncated, fmt.Sprintf("%s of %s can be decoded", decoded.Round(time.Second/10), promised.Round(time.Second/10)))
	}
	return nil
}

const mostComplaints = 3

func (h *heard) finding(info ffmpeg.Info, decoded time.Duration) Finding {
	return Finding{
		Duration: decoded, Begin: h.begin, End: h.end,
		Container: info.Format, Codec: info.Codec, Rate: info.SampleRate, Channels: info.Channels,
		Integrated: h.levels.Integrated, TruePeak: h.levels.TruePeak, Silence: h.silent, Clipped: h.clipped,
		Speech: h.speech(), HasCover: info.Picture != "",
		Peaks: h.peaks(), LoudestAt: h.loudestAt(), Spectrum: h.spectrum(),
	}
}

func notes(s *structure, info ffmpeg.Info, complaints ffmpeg.Complaints, h *heard, speech float64, want Want) []string {
	if info.Video {
		s.note(NoteVideo)
	}
	if info.Tracks > 1 {
		s.note(NoteTracks)
	}
	if complaints.Lines > 0 {
		s.note(NoteErrors)
	}
	for _, n := range h.notes() {
		s.note(n)
	}
	if want.Music && speech >= speechNoted {
		s.note(NoteSpeech)
	}
	return s.notes
}
