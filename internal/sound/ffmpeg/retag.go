package ffmpeg

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// Retagging says what an MP3 is to say of itself.
type Retagging struct {
	// Metadata is the path of a file in ffmpeg's own form (ffmetadata), with tags and chapters:
	// so no text is an argument.
	Metadata string
	Cover    string // path of a JPEG to attach; empty: none
	// End is where the sound ends in the source, in bytes; 0: with the file. ffmpeg takes tags
	// that stand behind the sound for a part of it.
	End  int64
	Nice int // niceness, 0 to 19
}

// copying bounds the time in which the frames of a file are copied, on a slow disk.
const copying = time.Hour

// Retag copies the frames of one MP3 into another, which is not there yet, with new tags in
// ID3v2.3 and a header that tells its length. Nothing that the source says of itself goes with
// them. Errors are those of Decode; after one the file may be incomplete, and the caller removes it.
func Retag(ctx context.Context, from, to string, r Retagging) error {
	in, err := input(from)
	if err != nil {
		return err
	}
	out, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	if r.End > 0 {
		in = []string{"-protocol_whitelist", "file,subfile", "-format_whitelist", "mp3", "-i", fmt.Sprintf("subfile,,start,0,end,%d,,:%s", r.End, in[len(in)-1])}
	}
	args := append([]string{"-nostdin", "-hide_banner", "-v", "error"}, in...)
	args = append(args, "-protocol_whitelist", "file", "-f", "ffmetadata", "-i", "file:"+r.Metadata)
	maps := []string{"-map", "0:a:0"}
	if r.Cover != "" {
		args = append(args, "-protocol_whitelist", "file", "-f", "jpeg_pipe", "-i", "file:"+r.Cover)
		maps = append(maps, "-map", "2:v:0", "-disposition:v", "attached_pic", "-metadata:s:v", "comment=Cover (front)")
	}
	args = append(args, maps...)
	// ID3v2.3, as ffmpeg writes the sizes of chapters wrong in v2.4: as plain numbers.
	args = append(args, "-c", "copy", "-map_metadata", "1", "-map_metadata:s:a", "-1", "-map_chapters", "1",
		"-id3v2_version", "3", "-write_id3v1", "0", "-write_xing", "1", "-fflags", "+bitexact", "-flags:a", "+bitexact", "-f", "mp3", "-n", "file:"+out)
	return run(ctx, "ffmpeg", from, copying, nil, args...)
}
