package ffmpeg

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Info is what ffprobe says of a file's first sound track.
type Info struct {
	Duration   time.Duration // 0 when the file does not tell; MP3 and raw AAC may be guessed: see Length
	Codec      string        // "mp3", "vorbis", "aac", …
	Format     string        // ffmpeg's name of the container: "mp3", "ogg", "mov,mp4,m4a,3gp,3g2,mj2"
	Channels   int
	SampleRate int               // Hz
	Tags       map[string]string // lower-case names; the container's before the track's
}

// probeTime is far above what a whole file on a slow disk takes.
const probeTime = 20 * time.Second

// Probe asks ffprobe what the file at path is. A file without playable audio
// gives a *RefusedError whose Reason is fit to show.
func Probe(ctx context.Context, path string) (Info, error) {
	in, err := input(path)
	if err != nil {
		return Info{}, err
	}
	out := &collector{limit: 4 << 20}
	args := append([]string{
		"-hide_banner", "-v", "error", "-of", "json", "-show_entries",
		"format=format_name,duration:format_tags:stream=codec_type,codec_name,sample_rate,channels,duration:stream_tags",
	}, in...)
	if err := run(ctx, "ffprobe", path, probeTime, out, args...); err != nil {
		return Info{}, err
	}
	if out.over {
		return Info{}, &RefusedError{Path: path, Reason: "its tags are absurdly large"}
	}
	var report probeReport
	if err := json.Unmarshal(out.kept, &report); err != nil {
		return Info{}, fmt.Errorf("read ffprobe's answer about %s: %w", path, err)
	}
	return report.info(path)
}

// probeReport is the part of ffprobe's JSON that is asked for.
type probeReport struct {
	Streams []struct {
		CodecName  string            `json:"codec_name"`
		CodecType  string            `json:"codec_type"`
		SampleRate string            `json:"sample_rate"`
		Channels   int               `json:"channels"`
		Duration   string            `json:"duration"`
		Tags       map[string]string `json:"tags"`
	} `json:"streams"`
	Format struct {
		Name     string            `json:"format_name"`
		Duration string            `json:"duration"`
		Tags     map[string]string `json:"tags"`
	} `json:"format"`
}

func (r *probeReport) info(path string) (Info, error) {
	for _, s := range r.Streams {
		if s.CodecType != "audio" {
			continue
		}
		if s.CodecName == "" || s.CodecName == "unknown" {
			return Info{}, &RefusedError{Path: path, Reason: "its audio is in a format ffmpeg does not know"}
		}
		info := Info{
			Codec: s.CodecName, Format: r.Format.Name, Channels: s.Channels,
			Duration: seconds(s.Duration), Tags: map[string]string{},
		}
		if info.Duration == 0 {
			info.Duration = seconds(r.Format.Duration)
		}
		info.SampleRate, _ = strconv.Atoi(s.SampleRate)
		for _, tags := range []map[string]string{s.Tags, r.Format.Tags} { // the container's win
			for key, value := range tags {
				info.Tags[strings.ToLower(key)] = value
			}
		}
		return info, nil
	}
	return Info{}, &RefusedError{Path: path, Reason: "there is no audio in it"}
}

// seconds reads ffprobe's decimal seconds; "N/A" and nonsense are 0.
func seconds(s string) time.Duration {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f <= 0 || f > 1e7 {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}
