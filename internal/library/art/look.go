package art

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/station"
)

// lrc ends the name of the text beside a file.
const lrc = ".lrc"

// mostPicture bounds a picture that is taken out of a file, in bytes, as covers do.
const mostPicture = 8 << 20

// versionOf is that of a track and of the text beside it.
func (a *Art) versionOf(t station.Track) fileVersion {
	v := fileVersion{size: t.Size, mtime: t.ModTime.UnixNano()}
	name := strings.TrimSuffix(t.Path, path.Ext(t.Path)) + lrc
	if info, err := os.Lstat(filepath.Join(a.opt.Root, filepath.FromSlash(name))); err == nil {
		v.beside = info.ModTime().UnixNano() ^ info.Size()<<1 | 1
	}
	return v
}

// look reads what is in a file. An error says nothing of the file: it is tried again.
func (a *Art) look(ctx context.Context, t station.Track, v fileVersion) (row, error) {
	out := row{path: t.Path, version: v}
	var beside []byte
	if v.beside != 0 {
		// What may not be read is as good as none: the scan says what is wrong with a folder.
		beside, _ = a.opt.Beside(t.Path, lrc, 4*mostLyrics)
	}
	abs := filepath.Join(a.opt.Root, filepath.FromSlash(t.Path))
	info, err := ffmpeg.Probe(ctx, abs)
	var refused *ffmpeg.RefusedError
	if err != nil && !errors.As(err, &refused) {
		return row{}, err
	}
	out.lyrics = lyricsOf(beside, info.Tags)
	if info.Picture == "" {
		return out, nil
	}
	data, err := ffmpeg.Picture(ctx, abs, info.Picture, mostPicture)
	if errors.As(err, &refused) {
		return out, nil
	}
	if err == nil {
		out.cover, err = a.opt.Covers.Put(data)
	}
	if err != nil && !errors.Is(err, station.ErrInvalid) {
		return row{}, fmt.Errorf("take the picture out of %s: %w", t.Path, err)
	}
	return out, nil
}
