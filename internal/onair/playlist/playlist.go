// Package playlist is the codec of the rotation's M3U file: entries in,
// exactly 32768 bytes out, and back. A file name may hold any byte a file
// system allows, line breaks included, and the engine gets the same name.
//
// The package is pure: it knows no disk, clock or process, and it does not
// look whether a file exists (see onair/delivery).
//
// # The file
//
//	#EXTM3U athir:1 entries:00003 sum:6b0f…        the header, always 67 bytes
//	/media/arabic_hits/a.mp3                        music: the plain path
//	annotate:athir_gain="-3.25":/media/social/c.mp3 music without a mastered copy
//	annotate:liq_cross_duration=4:/media/english/d.mp3  music with a cross of its own
//	annotate:type=sfx,liq_cross_duration=0.2:/media/sfx/b.mp3
//	File:x:///media/english/two%0Alines.mp3         a name that needs escaping
//	                                                line feeds up to 32768 bytes
//
// The header's sum covers every byte after it, so that a reader can tell a
// whole list from one that is just being written. Padding is line feeds, which
// Liquidsoap's parser drops. No entry crosses a 4096-byte boundary as long as
// all fit that way: the kernel copies a write page by page, so even a list torn
// by a SIGKILL shows the engine whole entries only, the new head first.
//
// # What the engine does to a line
//
// Liquidsoap 2.1.3 splits on runs of CR and LF, skips lines that begin with #,
// trims nothing, recodes nothing and expands nothing, so an absolute path needs
// no escaping, with two exceptions. A line break cannot stand in a line. And an
// annotated URI must be UTF-8, or the request does not resolve (its lexer gives
// up): names in Windows-1256 are common where old Arabic archives are unpacked.
// Both go through the engine's own percent-decoding file protocol. It is
// spelled File because a lower-case "file:" is cut off before any protocol sees
// it, and a line that begins with "FILE" makes the engine's guess of the format
// a CUE sheet without tracks; x: fills the field that the protocol throws away.
//
// An annotation's value may go without quotes only where it is a plain word or a
// number without a sign, so a gain is quoted.
package playlist

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Size is the length of every playlist file in bytes (mission: Limits).
const Size = 32768

// MaxPath is the longest path in bytes: Linux's PATH_MAX without its NUL.
const MaxPath = 4095

// MaxGain bounds a gain both ways, in dB.
const MaxGain = 40

// MaxCross is the longest cross duration an entry may ask for.
const MaxCross = time.Minute

// Item is one entry of the list.
type Item struct {
	// Path is absolute on the node. Any byte but NUL, at most MaxPath bytes.
	Path string
	// Type is the category of a short or imaging entry, empty for music.
	Type string
	// Cross is the entry's liq_cross_duration: whole milliseconds, more than
	// none and at most MaxCross. Music needs none: zero is the engine's 2.0 s.
	Cross time.Duration
	// Gain is what the engine adds to this entry's level, in dB: within ±MaxGain,
	// and written to the hundredth. Only music has one, for a song that airs from
	// its own file because no mastered copy of it exists yet; none is the plain
	// path.
	Gain float64
}

// ItemFor returns the entry for a file of category c, with the cross duration
// the mission gives that category (Playlist entry annotation).
func ItemFor(path string, c station.Category) Item {
	item := Item{Path: path, Type: string(c)}
	switch c {
	case station.SFX, station.Shorts:
		item.Cross = 200 * time.Millisecond
	case station.Jingles, station.Sweepers, station.Ads, station.News:
		item.Cross = 500 * time.Millisecond
	default:
		item.Type = ""
	}
	return item
}

// Why a list is not written.
var (
	ErrEmpty = fmt.Errorf("playlist has no entries: %w", station.ErrInvalid)

	ErrNotAbsolute = errors.New("path is not absolute")
	ErrNUL         = errors.New("path holds a NUL byte")
	ErrLongPath    = fmt.Errorf("path is longer than %d bytes", MaxPath)
	ErrType        = errors.New("type must be sfx, shorts, jingles, sweepers, ads or news")
	ErrCross       = fmt.Errorf("cross duration must be whole milliseconds, above 0 and at most %s", MaxCross)
	ErrGain        = fmt.Errorf("gain must be within ±%d dB, and only music may have one", MaxGain)
)

// Why a file is not read.
var (
	// ErrSize: the file is not exactly Size bytes.
	ErrSize = fmt.Errorf("playlist is not exactly %d bytes", Size)
	// ErrForeign: the file was not written by Encode or Blank.
	ErrForeign = errors.New("playlist was not written by athir")
	// ErrTorn: the sum does not match: a write was under way or was cut short.
	ErrTorn = errors.New("playlist is torn: its checksum does not match")
)

// Refusal is one item that no list can carry, and why (one of the named errors).
type Refusal struct {
	Index int // in the items given to Encode
	Path  string
	Err   error
}

// RefusedError lists every item that Encode refused. It is a station.ErrInvalid
// and each of its reasons.
type RefusedError struct{ Items []Refusal }

func (e *RefusedError) Error() string {
	var b strings.Builder
	for i, r := range e.Items {
		if i == 3 {
			fmt.Fprintf(&b, "; and %d more", len(e.Items)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "entry %d %q: %v", r.Index, r.Path, r.Err)
	}
	return b.String()
}

// Unwrap gives errors.Is the reasons.
func (e *RefusedError) Unwrap() []error {
	all := []error{station.ErrInvalid}
	for _, r := range e.Items {
		all = append(all, r.Err)
	}
	return all
}

// Check returns why no list can carry item, nil when one can.
func Check(item Item) error {
	switch {
	case !strings.HasPrefix(item.Path, "/"):
		return ErrNotAbsolute
	case strings.ContainsRune(item.Path, 0):
		return ErrNUL
	case len(item.Path) > MaxPath:
		return ErrLongPath
	case !(math.Abs(item.Gain) <= MaxGain), item.Type != "" && item.Gain != 0: // not a number is refused too
		return ErrGain
	case item.Type == "" && item.Cross == 0:
		return nil
	case item.Type != "" && !annotated(item.Type):
		return ErrType
	case item.Cross <= 0 || item.Cross > MaxCross || item.Cross%time.Millisecond != 0:
		return ErrCross
	}
	return nil
}

// annotated reports whether entries of this type carry an annotation. A closed
// list, because the type stands unquoted in the annotation.
func annotated(typ string) bool {
	return typ != "" && ItemFor("", station.Category(typ)).Type != ""
}
