// Package audiofile reads tags and the exact duration of MP3, Ogg (Vorbis,
// Opus, FLAC), FLAC, M4A and WAV files from their headers: a few small reads
// per file, no decoding and no program, safe on hostile files.
//
// It does not guess: a file with inconsistent headers is an OddError and left to a
// decoder (sound/ffmpeg). It writes nothing and reads no pictures.
package audiofile

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Info is what a file's headers say. Texts are valid UTF-8 without control
// characters, at most 512 bytes each, and empty when unknown.
type Info struct {
	Format     string // mp3, vorbis, opus, flac, aac, alac, pcm
	Duration   time.Duration
	Channels   int // as the headers have it: MP4 says 2 of any AAC
	SampleRate int // Hz
	Title      string
	Artist     string // several are joined by " & "
	Album      string
	Genre      string
	License    string // licence tag, licence URL, or copyright notice
	ISRC       string // as the tag has it; station.ISRC reads it
	Label      string // record label or publisher
	Composer   string // several are joined by " & "
}

// OddError says that the headers alone do not identify the file. The Info returned
// beside it holds what they say; its Duration is unverified.
type OddError struct{ Reason string }

func (e *OddError) Error() string { return e.Reason }

// BrokenError says in plain words why the file is certainly incomplete.
type BrokenError struct{ Reason string }

func (e *BrokenError) Error() string { return e.Reason }

func odd(format string, args ...any) error    { return &OddError{fmt.Sprintf(format, args...)} }
func broken(format string, args ...any) error { return &BrokenError{fmt.Sprintf(format, args...)} }

// tolerated is how much audio may be missing before a file counts as cut off.
const tolerated = time.Second

// Read reads the headers of a file of size bytes. Errors are *OddError,
// *BrokenError, or those of r.
func Read(r io.ReaderAt, size int64) (Info, error) {
	if size == 0 {
		return Info{}, broken("the file is empty (0 bytes)")
	}
	s := &source{r: r, size: size}
	var t tags
	info, err := s.read(&t)
	if err == nil && info.Duration <= 0 {
		err = odd("the headers give no duration")
	}
	if errors.Is(err, errShort) {
		err = odd("the headers point past the end of the file")
	}
	t.fill(&info)
	return info, err
}

// read finds the container by its first bytes, whatever the file is called.
func (s *source) read(t *tags) (Info, error) {
	start, err := s.skipID3(t)
	if err != nil {
		return Info{}, err
	}
	head, err := s.bytes(start, int(min(12, s.size-start)))
	if err != nil {
		return Info{}, err
	}
	has := func(at int, magic string) bool {
		return len(head) >= at+len(magic) && string(head[at:at+len(magic)]) == magic
	}
	switch {
	case has(0, "fLaC"):
		return s.flac(start, t)
	case has(0, "OggS"):
		return s.ogg(start, t)
	case has(4, "ftyp"):
		return s.mp4(t)
	case has(0, "RIFF") && has(8, "WAVE"), has(0, "RF64") && has(8, "WAVE"):
		return s.wav(t)
	}
	return s.mp3(start, t)
}

// source is random access to a file through one small buffer.
type source struct {
	r    io.ReaderAt
	size int64
	buf  []byte
	off  int64 // of buf in the file
}

const (
	readAhead = 16 << 10
	maxRead   = 16 << 20 // a header that asks for more is not a header
)

var errShort = errors.New("past the end of the file")

// bytes returns n bytes at off, valid until the next call; errShort when the
// file does not have them.
func (s *source) bytes(off int64, n int) ([]byte, error) {
	if off < 0 || n < 0 || n > maxRead || off > s.size-int64(n) {
		return nil, errShort
	}
	if off < s.off || off+int64(n) > s.off+int64(len(s.buf)) {
		if err := s.fill(off, n); err != nil {
			return nil, err
		}
	}
	at := int(off - s.off)
	return s.buf[at : at+n], nil
}

func (s *source) fill(off int64, n int) error {
	want := int(min(int64(max(n, readAhead)), s.size-off))
	if cap(s.buf) < want {
		s.buf = make([]byte, want)
	}
	s.buf, s.off = s.buf[:want], off
	got, err := s.r.ReadAt(s.buf, off)
	s.buf = s.buf[:got]
	if got >= n {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) { // it shrank during the read
		return errShort
	}
	return err
}

// perSecond is n/rate as a duration, without overflow for any file.
func perSecond(n uint64, rate int) time.Duration {
	if rate <= 0 {
		return 0
	}
	r := uint64(rate)
	if n/r > uint64(maxDuration/time.Second) {
		return 0
	}
	return time.Duration(n/r)*time.Second + time.Duration(n%r*uint64(time.Second)/r)
}

// maxDuration is longer than any real file: a header that claims more is wrong.
const maxDuration = 1000 * time.Hour
