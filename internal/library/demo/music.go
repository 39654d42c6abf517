package demo

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

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
	slices.SortStableFunc(tracks, func(a, b asset) int { return cmp.Compare(a.size, b.size) })
	interleave(tracks)
	for _, p := range Packages() {
		if !found[p] {
			missing = append(missing, p)
		}
	}
	return tracks, missing, nil
}

// interleave takes a track of each category in turn, so that a station that
// starts on the first few already has something of everything. Within a category the
// smallest files come first: they are copied, read and measured soonest.
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
		size:   size,
		recipe: fmt.Sprint("copy 2 ", size, f),
		make: func(ctx context.Context, temp string, _ int) error {
			err := retag(ctx, temp, source, append(c.tags(), [][2]string{
				{"REPLAYGAIN_TRACK_GAIN", fmt.Sprintf("%.2f dB", -18-lufs)},
				{"REPLAYGAIN_TRACK_PEAK", fmt.Sprintf("%.6f", synth.Decibels(peak))},
			}...))
			if err != nil {
				return err
			}
			// It is whole when it appears. A scanner that finds it just written would wait
			// for the rest of it.
			whole := time.Now().Add(-time.Minute)
			return os.Chtimes(temp, whole, whole)
		},
	}
}

// slug is a plain file name: lower case, words joined by dashes.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(s, "'", "")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), "-")
}
