package demo

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/synth"
	"github.com/athir-radio/athir/internal/station"
)

//go:embed catalogue.tsv
var catalogue string

// packageTracks lists the catalogue's tracks whose files are on this machine,
// and the default packages of which there is none.
func packageTracks(share string) (tracks []asset, missing []string, err error) {
	found := map[string]bool{}
	for number, line := range strings.Split(strings.TrimSpace(catalogue), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 9 {
			return nil, nil, fmt.Errorf("catalogue line %d: %d fields, not 9", number+1, len(f))
		}
		source := filepath.Join(share, f[2])
		info, err := os.Stat(source)
		if err != nil {
			continue
		}
		found[f[1]] = true
		tracks = append(tracks, packageTrack(f, source, info.Size()))
	}
	interleave(tracks)
	for _, p := range Packages() {
		if !found[p] {
			missing = append(missing, p)
		}
	}
	return tracks, missing, nil
}

// interleave takes a track of each category in turn, so that a station that
// starts on the first few already has something of everything.
func interleave(tracks []asset) {
	turn, seen := map[string]int{}, map[station.Category]int{}
	for _, a := range tracks {
		c := folderCategory(a.path)
		turn[a.path] = seen[c]
		seen[c]++
	}
	slices.SortStableFunc(tracks, func(a, b asset) int { return turn[a.path] - turn[b.path] })
}

// Packages names the Debian packages a full library is built from. Tracks of
// hyperrogue-music and asc-music are taken too where they are installed.
func Packages() []string { return []string{"wesnoth-1.16-music", "singularity-music"} }

func packageTrack(f []string, source string, size int64) asset {
	c := credit{Artist: f[3], Title: f[4], Album: f[5], License: f[6], Source: "Debian package " + f[1]}
	// ReplayGain 2.0: the reference is -18 LUFS. The audio itself is not touched.
	var lufs, peak float64
	_, _ = fmt.Sscan(f[7], &lufs)
	_, _ = fmt.Sscan(f[8], &peak)
	return asset{
		path:   "music/" + f[0] + "/" + slug(c.Artist+" "+c.Title) + filepath.Ext(source),
		stage:  Music,
		credit: c,
		recipe: fmt.Sprint("copy 2 ", size, f),
		make: func(ctx context.Context, temp string) error {
			return retag(ctx, temp, source, c, [][2]string{
				{"REPLAYGAIN_TRACK_GAIN", fmt.Sprintf("%.2f dB", -18-lufs)},
				{"REPLAYGAIN_TRACK_PEAK", fmt.Sprintf("%.6f", synth.Decibels(peak))},
			})
		},
	}
}

// retag copies the audio as it is and puts our tags in place of the file's own.
func retag(ctx context.Context, to, from string, c credit, more [][2]string) error {
	format := strings.TrimPrefix(filepath.Ext(from), ".")
	args := []string{"-nostdin", "-v", "error", "-y", "-i", "file:" + from, "-map", "0:a:0", "-c", "copy", "-map_metadata", "-1"}
	for _, tag := range append(c.tags(), more...) {
		// MP3 takes the file's metadata, Ogg the stream's.
		args = append(args, "-metadata", tag[0]+"="+tag[1], "-metadata:s:a:0", tag[0]+"="+tag[1])
	}
	_, err := proc.Output(ctx, proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Nice: 10, Args: append(args, "-id3v2_version", "3", "-f", format, to),
	}, 1<<10)
	return err
}

// slug is a plain file name: lower case, words joined by dashes.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(s, "'", "")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), "-")
}
