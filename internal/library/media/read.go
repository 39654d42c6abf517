package media

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/station"
)

// job is one file to open: it is new, or it changed.
type job struct {
	rel, abs string
	file     fileStamp
	modTime  time.Time
	credit   credit
	sidecar  bool
	stamp    uint64
	tagsOf   *station.Track // what it is otherwise is known: see release.go
}

// refusal says why a file is quarantined. One that may pass (permissions, a
// disk error) is looked at again in every scan; the rest when the file changes.
type refusal struct {
	reason string
	passes bool
	kind   Unfitness
}

func (r *refusal) Error() string { return r.reason }

var (
	errVanished = errors.New("the file vanished while it was read")
	errMoving   = errors.New("the file changed while it was read")
)

// lateError says that a file could not be read for a fault of the machine that other
// files may not meet: it is put off, alone.
type lateError struct{ reason string }

func (e *lateError) Error() string { return e.reason }

// reader turns a file into a track.
type reader struct {
	files          *files
	opened, probed atomic.Int64
}

// read opens one file. Errors: *refusal, *lateError, errVanished, errMoving; any other
// is the machine's fault and says nothing about the file.
func (r *reader) read(ctx context.Context, j job) (station.Track, error) {
	f, err := r.files.open(j.abs)
	if err != nil {
		return station.Track{}, openError(err)
	}
	defer func() { _ = f.Close() }()
	r.opened.Add(1)
	if j.tagsOf != nil {
		return r.released(ctx, f, j)
	}
	info, err := r.examine(ctx, f, j.abs, j.file)
	if err != nil {
		return station.Track{}, err
	}
	t := r.describe(j, info)
	return t, fitsIn(t.Category, &info)
}

// examine reads what an open file is. file is its stat when it was found.
func (r *reader) examine(ctx context.Context, f *os.File, abs string, file fileStamp) (audiofile.Info, error) {
	found, err := still(f, file)
	if err == nil {
		err = whole(f, found)
	}
	if err != nil {
		return audiofile.Info{}, err
	}
	info, err := headers(f, file.size)
	if err = r.decide(ctx, abs, &info, err); err != nil && !isRefusal(err) {
		return audiofile.Info{}, err
	}
	if _, moved := still(f, file); moved != nil {
		return audiofile.Info{}, moved
	}
	return info, err
}

// still is the stat of an open file; errMoving where it is not as it was.
func still(f *os.File, was fileStamp) (fs.FileInfo, error) {
	now, err := f.Stat()
	switch {
	case err != nil:
		return nil, openError(err)
	case stampFile(now) != was:
		return nil, errMoving
	}
	return now, nil
}

func stampFile(info fs.FileInfo) fileStamp {
	return fileStamp{info.Size(), info.ModTime().UnixNano()}
}

func isRefusal(err error) bool {
	var r *refusal
	return errors.As(err, &r)
}

// headers reads the file's own headers. A hostile file that makes the parser
// panic is left to ffmpeg and does not stop the station.
func headers(f *os.File, size int64) (info audiofile.Info, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &audiofile.OddError{Reason: fmt.Sprintf("its headers are malformed (%v)", p)}
		}
	}()
	return audiofile.Read(f, size)
}

// decide asks ffmpeg when the headers leave doubt.
func (r *reader) decide(ctx context.Context, abs string, info *audiofile.Info, err error) error {
	var broken *audiofile.BrokenError
	var odd *audiofile.OddError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &broken):
		return &refusal{reason: broken.Reason, kind: Damaged}
	case !errors.As(err, &odd):
		return openError(err)
	}
	r.probed.Add(1)
	probe, err := ffmpeg.Probe(ctx, abs)
	if err != nil {
		return probeError(ctx, err)
	}
	if !fits(abs, probe.Format) {
		return &refusal{reason: fmt.Sprintf("its content (%s) is not what its name says", probe.Format), kind: NotAudio}
	}
	length, err := ffmpeg.LengthUpTo(ctx, abs, longestAny)
	if err != nil {
		return probeError(ctx, err) // nothing of it can be decoded
	}
	claim := info.Duration
	if claim == 0 && probe.Codec != "mp3" && probe.Format != "aac" { // of those ffprobe guesses
		claim = probe.Duration
	}
	if missing := claim - length; length < longestAny && missing > time.Second && missing > claim/50 {
		return &refusal{reason: fmt.Sprintf("damaged: only %s of %s can be played", length.Round(time.Second), claim.Round(time.Second)), kind: Damaged}
	}
	fill(info, probe, length)
	return nil
}

// fits says whether the format that ffprobe finds in a doubtful file suits the
// file's name. When the content is beyond doubt, the name does not matter.
func fits(name, format string) bool {
	families := map[string][]string{
		".mp3":  {"mp3"},
		".ogg":  {"ogg", "matroska"},
		".oga":  {"ogg", "matroska"},
		".opus": {"ogg", "matroska"},
		".flac": {"flac", "ogg"},
		".m4a":  {"mov", "aac"},
		".wav":  {"wav", "w64"},
	}
	family := families[strings.ToLower(path.Ext(name))]
	demuxer, _, _ := strings.Cut(format, ",")
	return slices.Contains(family, demuxer)
}

func fill(info *audiofile.Info, probe ffmpeg.Info, length time.Duration) {
	info.Format, info.Duration, info.Channels, info.SampleRate = probe.Codec, length, probe.Channels, probe.SampleRate
	for _, f := range []struct {
		to  *string
		tag string
	}{{&info.Title, "title"}, {&info.Artist, "artist"}, {&info.Album, "album"}, {&info.Genre, "genre"}} {
		if *f.to == "" {
			*f.to = audiofile.Text([]byte(probe.Tags[f.tag]))
		}
	}
	fillRelease(info, probe)
}

// fillRelease fills in what ffprobe found of the recording.
func fillRelease(info *audiofile.Info, probe ffmpeg.Info) {
	tagged := audiofile.Tagged(probe.Tags)
	for _, f := range []struct{ to, tag *string }{
		{&info.License, &tagged.License}, {&info.ISRC, &tagged.ISRC}, {&info.Label, &tagged.Label}, {&info.Composer, &tagged.Composer},
	} {
		*f.to = cmp.Or(*f.to, *f.tag)
	}
}

// probeError tells a bad file from a bad machine.
func probeError(ctx context.Context, err error) error {
	var refused *ffmpeg.RefusedError
	var late *ffmpeg.UnfinishedError
	var missing *proc.MissingError
	switch {
	case errors.As(err, &refused):
		if refused.Reason == ffmpeg.DiskFault { // what the disk cannot read now, it may read in the next scan
			return &refusal{reason: refused.Reason, passes: true}
		}
		return &refusal{reason: audiofile.Text([]byte(refused.Reason)), kind: NotAudio}
	case errors.As(err, &late):
		return &lateError{late.Reason}
	case ctx.Err() != nil, errors.As(err, &missing):
		return err
	}
	for cause := err; cause != nil; cause = errors.Unwrap(cause) { // the outer ones name paths
		err = cause
	}
	return &refusal{reason: "ffprobe cannot examine it: " + err.Error(), passes: true}
}

func openError(err error) error {
	switch {
	case isRefusal(err):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return errVanished
	case errors.Is(err, fs.ErrPermission):
		return &refusal{reason: fmt.Sprintf("user %s may not read it: change its owner or its mode", userName()), passes: true}
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
		return err
	}
	return &refusal{reason: "the disk cannot read it: " + unwrapPath(err).Error(), passes: true}
}

// unwrapPath drops the operation and the path from an error: both are known.
func unwrapPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}

// describe makes the track: credits over tags over the file name.
func (r *reader) describe(j job, info audiofile.Info) station.Track {
	t := station.Track{
		Path: j.rel, Title: info.Title, Artist: info.Artist, Album: info.Album, Genre: info.Genre, License: info.License,
		Duration: info.Duration.Truncate(time.Microsecond), Size: j.file.size, ModTime: j.modTime,
	}
	release(&t, info)
	j.credit.apply(&t)
	if j.sidecar {
		if license := sidecarLicense(r.files, j.abs); license != "" {
			t.License = license
		}
	}
	artist, title := nameParts(audiofile.Text([]byte(path.Base(j.rel))))
	if t.Title == "" {
		t.Title = title
		if t.Artist == "" {
			t.Artist = artist
		}
	}
	category, ok := folderCategory(j.rel)
	if !ok {
		category = contentCategory(&t)
	}
	t.Category = category
	return t
}
