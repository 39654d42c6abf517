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

// Info is ffprobe's description of a file's first sound track.
type Info struct {
	Duration   time.Duration // 0 when the file does not tell; MP3 and raw AAC may be guessed: see Length
	Codec      string        // "mp3", "vorbis", "aac", …
	Format     string        // ffmpeg's name of the container: "mp3", "ogg", "mov,mp4,m4a,3gp,3g2,mj2"
	Channels   int
	SampleRate int               // Hz
	Tracks     int               // how many sound tracks there are
	Video      bool              // there are moving pictures beside the sound
	Picture    string            // which stream is an attached picture, for Picture; empty if none is
	Tags       map[string]string // lower-case names; the container's before the track's
}

// probeTime is far longer than ffprobe needs on a slow disk.
const probeTime = 20 * time.Second

// Probe runs ffprobe on the file at path. A file without playable audio gives a
// *RefusedError whose Reason can be shown to people; a probe that is not done in 20 s an
// *UnfinishedError.
func Probe(ctx context.Context, path string) (Info, error) {
	in, err := input(path)
	if err != nil {
		return Info{}, err
	}
	out := &collector{limit: 4 << 20}
	args := append([]string{
		"-hide_banner", "-v", "error", "-of", "json", "-show_entries",
		"format=format_name,duration:format_tags:stream=index,codec_type,codec_name,sample_rate,channels,duration:stream_tags:" +
			"stream_disposition=attached_pic",
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
		Index       int `json:"index"`
		Disposition struct {
			AttachedPic int `json:"attached_pic"`
		} `json:"disposition"`
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
		info.Picture = r.picture()
		info.Tracks, info.Video = r.count("audio"), r.count("video") > 0
		for _, tags := range []map[string]string{s.Tags, r.Format.Tags} { // the container's win
			for key, value := range tags {
				info.Tags[strings.ToLower(key)] = value
			}
		}
		return info, nil
	}
	if r.count("video") > 0 {
		return Info{}, &RefusedError{Path: path, Reason: NoSound}
	}
	return Info{}, &RefusedError{Path: path, Reason: "there is no audio in it"}
}

// NoSound is the Reason of a video without a sound track.
const NoSound = "there is no audio in it, only video"

// count is how many tracks of a kind there are; attached pictures are none.
func (r *probeReport) count(kind string) int {
	n := 0
	for _, s := range r.Streams {
		if s.CodecType == kind && s.Disposition.AttachedPic == 0 {
			n++
		}
	}
	return n
}

// picture is the first attached picture of a kind that every player shows.
func (r *probeReport) picture() string {
	for _, s := range r.Streams {
		if s.Disposition.AttachedPic == 1 && (s.CodecName == "mjpeg" || s.CodecName == "png") {
			return "0:" + strconv.Itoa(s.Index)
		}
	}
	return ""
}

// Picture returns the bytes of the picture that Info.Picture names, a JPEG or a
// PNG; one that is larger than limit bytes is refused.
func Picture(ctx context.Context, path, stream string, limit int) ([]byte, error) {
	in, err := input(path)
	if err != nil {
		return nil, err
	}
	out := &collector{limit: limit}
	args := append([]string{"-nostdin", "-hide_banner", "-v", "error"}, in...)
	args = append(args, "-map", stream, "-c", "copy", "-frames:v", "1", "-f", "image2pipe", "pipe:1")
	if err := run(ctx, "ffmpeg", path, probeTime, out, args...); err != nil {
		return nil, err
	}
	if out.over {
		return nil, &RefusedError{Path: path, Reason: fmt.Sprintf("its picture is larger than %d bytes", limit)}
	}
	return out.kept, nil
}

// seconds reads ffprobe's decimal seconds; "N/A" and nonsense are 0.
func seconds(s string) time.Duration {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f <= 0 || f > 1e7 {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}
