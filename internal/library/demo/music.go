package demo

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"go.senan.xyz/taglib"

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
		recipe: fmt.Sprint("copy 1 ", size, f),
		make: func(_ context.Context, temp string) error {
			if err := copyFile(temp, source); err != nil {
				return err
			}
			return taglib.WriteTags(temp, map[string][]string{
				taglib.Artist:           {c.Artist},
				taglib.Title:            {c.Title},
				taglib.Album:            {c.Album},
				taglib.License:          {c.License},
				"SOURCE":                {c.Source},
				"REPLAYGAIN_TRACK_GAIN": {fmt.Sprintf("%.2f dB", -18-lufs)},
				"REPLAYGAIN_TRACK_PEAK": {fmt.Sprintf("%.6f", decibels(peak))},
			}, 0)
		},
	}
}

// copyFile copies rather than links: through a hard link, whoever later
// changes a tag would write into the package's own file.
func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}

// slug is a plain file name: lower case, words joined by dashes.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(s, "'", "")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), "-")
}
