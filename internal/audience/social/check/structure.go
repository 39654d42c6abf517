package check

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
)

// Notes say what a moderator should know of a file that was taken.
const (
	NoteVideo       = "video_sound_only" // a video, of which only the sound is kept
	NoteTracks      = "several_tracks"   // of which the first is kept
	NotePolyglot    = "polyglot"         // it is a file of another kind as well; only its sound is kept
	NoteAttachments = "attachments"      // files within it, which are left out
	NoteLinked      = "linked_segments"  // it asks for other files, which are not fetched
	NoteErrors      = "decode_errors"    // a few packets could not be decoded
	NoteClipped     = "clipped"          // noticeably
	NoteOffset      = "dc_offset"        // mastering removes it
	NoteNarrow      = "narrow_band"      // as from a telephone
	NoteMono        = "mono"             // both channels are the same, or there is one
	NoteWide        = "mono_quieter"     // on one loudspeaker much of it is lost
	NoteSpeech      = "speech"           // much speech, where music was asked for
)

// Serious reports that a person should look at a file of which a note holds. The others say
// how it was encoded, and that mastering has dealt with it.
func Serious(note string) bool {
	return !slices.Contains([]string{NoteVideo, NoteTracks, NoteOffset, NoteMono}, note)
}

// structure is what the bytes of a file say before any program reads it.
type structure struct {
	notes []string
}

func (s *structure) note(n string) {
	if !slices.Contains(s.notes, n) {
		s.notes = append(s.notes, n)
	}
}

// file is random access to a file from outside, in reads of bounded size.
type file struct {
	r    io.ReaderAt
	size int64
	left int // reads that may still be made: a structure that needs more is none
}

const (
	mostReads = 20_000
	mostBytes = 64 << 10 // of one read
	headSize  = 4 << 10
)

// errShape says that the bytes are not what they claim to be. What ffmpeg makes of them
// counts.
var errShape = errors.New("not of this shape")

// bytes reads at most n bytes; fewer at the end of the file.
func (f *file) bytes(at int64, n int) ([]byte, error) {
	if f.left--; f.left < 0 || at < 0 || at > f.size || n < 0 || n > mostBytes {
		return nil, errShape
	}
	b := make([]byte, min(int64(n), f.size-at))
	got, err := f.r.ReadAt(b, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:got], nil
}

// exactly reads n bytes.
func (f *file) exactly(at int64, n int) ([]byte, error) {
	b, err := f.bytes(at, n)
	if err == nil && len(b) < n {
		err = errShape
	}
	return b, err
}

// look judges a file by its first bytes and by the structure of its container, never by its
// name. It refuses what is certainly no sound or protected; everything else is for ffmpeg to
// judge, whose list of demuxers has no playlist on it. Errors are *refusal.Refusal or those
// of r.
func look(r io.ReaderAt, size int64) (*structure, error) {
	s, f := &structure{}, &file{r: r, size: size, left: mostReads}
	start, err := f.skipID3(s)
	if err != nil {
		return s, plain(err)
	}
	head, err := f.bytes(start, headSize)
	if err != nil {
		return s, plain(err)
	}
	switch {
	case isMP4(head):
		err = f.mp4(s)
	case bytes.HasPrefix(head, []byte("\x1a\x45\xdf\xa3")):
		err = f.matroska(s)
	case bytes.HasPrefix(head, asfHeader()):
		err = f.asf(start)
	default:
		if code := other(head); code != "" {
			err = f.unlessSound(s, start, head, code)
		}
	}
	if err = plain(err); err != nil {
		return s, err
	}
	return s, plain(f.appended(s))
}

// plain drops errShape.
func plain(err error) error {
	if errors.Is(err, errShape) {
		return nil
	}
	return err
}

func refuse(code refusal.Code, note string) *refusal.Refusal {
	return &refusal.Refusal{Code: code, Note: note}
}

// unlessSound notes a file of another kind that ffmpeg may still find sound in. What is only
// text is refused at once, with the reason that fits it.
func (f *file) unlessSound(s *structure, start int64, head []byte, code refusal.Code) error {
	if code == refusal.Protected {
		return refuse(code, "")
	}
	all, err := f.bytes(start, mostBytes)
	if err != nil {
		return err
	}
	if len(all) == mostBytes {
		all = all[:mostBytes-3] // a letter may be cut there
	}
	if !bytes.ContainsFunc(all, func(r rune) bool { return r == 0 || r == '\ufffd' }) {
		return refuse(code, "") // text to the end of what a demuxer looks at
	}
	if code == refusal.Playlist {
		return refuse(code, "")
	}
	s.note(NotePolyglot)
	return nil
}

// appended notes an archive that begins at the end of a file, as ZIP does.
func (f *file) appended(s *structure) error {
	const most = 4 << 10
	tail, err := f.bytes(max(0, f.size-most), most)
	if err == nil && bytes.Contains(tail, []byte("PK\x05\x06")) {
		s.note(NotePolyglot)
	}
	return err
}

// other names what the first bytes are if they are no sound: a playlist, something
// protected, or another kind of file.
func other(head []byte) refusal.Code {
	text := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n\x00"))
	begins := func(list ...string) bool {
		return slices.ContainsFunc(list, func(m string) bool { return bytes.HasPrefix(text, []byte(m)) })
	}
	holds := func(list ...string) bool {
		return slices.ContainsFunc(list, func(m string) bool { return bytes.Contains(text[:min(len(text), 512)], []byte(m)) })
	}
	switch {
	case bytes.HasPrefix(head, []byte("#!AMR")):
		return ""
	case len(head) > 8 && bytes.Equal(head[4:8], []byte("\x57\x90\x75\x36")): // Audible's .aa
		return refusal.Protected
	case begins("#extm3u", "#extinf", "ffconcat", "[playlist]", "[reference]", "[internetshortcut]", "v=0\r\n", "v=0\n",
		"rtsptext", "asf http", "<asx", "<smil", "<mpd", "http://", "https://", "rtsp://", "rtmp://", "file:", "data:", "concat:"):
		return refusal.Playlist
	case begins("<?xml") && holds("<playlist", "<asx", "<smil", "<mpd", "<rss"):
		return refusal.Playlist
	case begins("<!doctype", "<html", "<svg", "<?xml", "<script", "<?php", "{\"", "#!", "%pdf-", "pk\x03\x04", "\x1f\x8b", "\x7felf",
		"mz", "gif8", "\x89png", "\xff\xd8\xff", "bm", "ii*\x00", "mm\x00*", "mthd", "rar!", "7z\xbc\xaf", "bzh", "\xfd7zxz", "%!ps", "sqlite format"):
		return refusal.NotAudio
	case bytes.HasPrefix(head, []byte("RIFF")) && len(head) > 12 && !bytes.Equal(head[8:12], []byte("WAVE")):
		return refusal.NotAudio
	}
	return ""
}
