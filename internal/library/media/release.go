package media

import (
	"context"
	"errors"
	"os"

	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/station"
)

// release gives a track what its tags say of the recording: a code that is none is left out.
func release(t *station.Track, info audiofile.Info) {
	t.ISRC, _ = station.ISRC(info.ISRC)
	t.Label, t.Composer = info.Label, info.Composer
}

// released reads of an open file only what the reader before did not: a library of 100,000
// is not decoded anew for the sake of some texts. What its headers are otherwise was judged.
// A disk that cannot read it now leaves it as it was registered, to be read later.
func (r *reader) released(ctx context.Context, f *os.File, j job) (station.Track, error) {
	if _, err := still(f, j.file); err != nil {
		return station.Track{}, err
	}
	t := *j.tagsOf
	info, err := headers(f, j.file.size) // the texts are there beside an error
	if err := r.texts(ctx, j.abs, &info, err); err != nil {
		return station.Track{}, err
	}
	release(&t, info)
	return t, nil
}

// texts has ffprobe look for what odd headers do not tell, and says what is no fault of the file.
func (r *reader) texts(ctx context.Context, abs string, info *audiofile.Info, err error) error {
	var broken *audiofile.BrokenError
	var odd *audiofile.OddError
	switch {
	case err == nil, errors.As(err, &broken):
		return nil
	case errors.As(err, &odd) && info.ISRC+info.Label+info.Composer != "":
		return nil
	case errors.As(err, &odd):
		r.probed.Add(1)
		probe, err := ffmpeg.Probe(ctx, abs)
		if err == nil {
			fillRelease(info, probe)
			return nil
		}
		return passing(probeError(ctx, err))
	}
	return passing(openError(err))
}

// passing puts off what a file that airs is refused for by a disk that may be well later. What
// else it would be refused for was judged before.
func passing(err error) error {
	var refused *refusal
	switch {
	case !errors.As(err, &refused):
		return err
	case refused.passes:
		return &lateError{refused.reason}
	default:
		return nil
	}
}
