package media

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/station"
)

// What others need to know of a file that is on its way into the media folder: what a scan
// would make of it there.

// Unfitness is why a file cannot air.
type Unfitness int

// The kinds.
const (
	Unreadable Unfitness = iota // the disk or the rights on it
	NotAudio                    // or not of the kind that its name says
	Damaged                     // or not whole
	Oversize
	OddRate
	TooShort
	TooLong
)

// Unfit says why a scan would quarantine a file.
type Unfit struct {
	Kind   Unfitness
	Reason string // for people, in English
	Passes bool   // it may be another time
}

// Error implements error.
func (u *Unfit) Error() string { return u.Reason }

// ErrLater says that the machine did not get a file read, which says nothing of the file.
var ErrLater = errors.New("the file could not be read in time")

// Examine reads a file as a scan would, wherever it lies. Its name must end as that of audio
// does: see Playable. Errors: *Unfit, ErrLater; any other is the machine's fault and says
// nothing about the file.
func Examine(ctx context.Context, abs string) (audiofile.Info, error) {
	f, err := os.OpenFile(abs, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return audiofile.Info{}, told(openError(err))
	}
	defer f.Close() //nolint:errcheck // only read
	found, err := f.Stat()
	switch {
	case err != nil:
		return audiofile.Info{}, told(openError(err))
	case !found.Mode().IsRegular():
		return audiofile.Info{}, told(errNoFile)
	}
	var r reader
	info, err := r.examine(ctx, f, abs, stampFile(found))
	return info, told(err)
}

// Fits refuses a file whose rate or length is out of place in a category, with an *Unfit.
func Fits(category station.Category, info *audiofile.Info) error { return told(fitsIn(category, info)) }

// told is an error as others know it.
func told(err error) error {
	var refused *refusal
	var late *lateError
	switch {
	case errors.As(err, &refused):
		return &Unfit{refused.kind, refused.reason, refused.passes}
	case errors.As(err, &late):
		return fmt.Errorf("%w: %s", ErrLater, late.reason)
	case errors.Is(err, errMoving):
		return fmt.Errorf("%w: %w", ErrLater, err)
	}
	return err
}

// Playable reports whether a scan would look at a file of that name.
func Playable(name string) bool { return audioFile(name) && !ignored(name) }

// NameParts makes an artist and a title of a file's name; the artist may be empty.
func NameParts(name string) (artist, title string) {
	return nameParts(audiofile.Text([]byte(name)))
}

// Brief reports that a length is that of a short rather than of a song, where no folder says
// what a file is.
func Brief(t *station.Track) bool { return t.Duration < shortest }

// ByContent is the category of a file that lies in no category's folder.
func ByContent(t *station.Track) station.Category { return contentCategory(t) }
