package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/proc"
)

// program is one that the station runs.
type program struct {
	name    string
	args    []string // print its version, on either output
	needed  bool     // without it there is no station
	without string   // what is missing without it
}

// Needed are the names of the programs without which no station starts.
func Needed(cfg *config.Config) (names []string) {
	for _, p := range programs(cfg) {
		if p.needed {
			names = append(names, p.name)
		}
	}
	return names
}

func programs(cfg *config.Config) []program {
	out := []program{
		{"liquidsoap", []string{"--version"}, true, ""},
		{"icecast2", []string{"-v"}, true, ""},
		{"ffmpeg", []string{"-version"}, true, ""},
		{"ffprobe", []string{"-version"}, true, ""},
		{"espeak-ng", []string{"--version"}, false, "bulletins and imaging have no voice where the online one is away"},
		{"fpcalc", []string{"-version"}, false, "recordings that are there already are not recognised"},
	}
	if cfg == nil || cfg.HLS.MediaMTX == "" {
		return append(out, program{"nginx", []string{"-v"}, true, ""})
	}
	return append(out, program{cfg.HLS.MediaMTX, []string{"--version"}, true, ""})
}

func programChecks(cfg *config.Config) (out []check) {
	for _, p := range programs(cfg) {
		out = append(out, check{"program " + p.name, patient, func(ctx context.Context) Result {
			if _, err := proc.Look(p.name); err != nil {
				return judgeMissing(p, err)
			}
			text, err := words(ctx, p.name, p.args...)
			return judgeVersion(p, text, err)
		}})
	}
	out = append(out, check{"encoders", patient, func(ctx context.Context) Result {
		if _, err := proc.Look("ffmpeg"); err != nil {
			return skipped("there is no ffmpeg")
		}
		text, err := words(ctx, "ffmpeg", "-hide_banner", "-encoders")
		decoders, err2 := words(ctx, "ffmpeg", "-hide_banner", "-decoders")
		return judgeCodecs(text, decoders, errors.Join(err, err2))
	}})
	if cfg == nil || cfg.HLS.MediaMTX == "" {
		out = append(out, check{"nginx rtmp module", usual, func(context.Context) Result {
			_, err := os.Stat(rtmpModule)
			return judgeModule(err)
		}})
	}
	return out
}

// rtmpModule is where Debian has it, and node/relay loads it from.
const rtmpModule = "/usr/lib/nginx/modules/ngx_rtmp_module.so"

// words is what a program prints, on either output, however it ends.
func words(ctx context.Context, name string, args ...string) (string, error) {
	var out strings.Builder
	exit, err := proc.Run(ctx, proc.Spec{Name: name, Path: name, Args: args, Stdout: &out, Stderr: &out, Drain: proc.DrainWhole}, nil)
	switch {
	case err != nil:
		return out.String(), err
	case ctx.Err() != nil:
		return out.String(), fmt.Errorf("%s does not end", name)
	case !exit.OK() && out.Len() == 0:
		return "", fmt.Errorf("%s: %s", name, exit)
	}
	return out.String(), nil
}

func judgeMissing(p program, err error) Result {
	remedy := ""
	if _, after, ok := strings.Cut(err.Error(), "run '"); ok {
		install, _, _ := strings.Cut(after, "'")
		remedy = install
	}
	if p.needed {
		return wrong(remedy, "%s is not installed, and there is no station without it", p.name)
	}
	return warning(remedy, "%s is not installed: %s", p.name, p.without)
}

// number is a version as programs write it.
var number = regexp.MustCompile(`\d+(\.\d+)+\S*`)

func judgeVersion(p program, text string, err error) Result {
	if version := number.FindString(text); version != "" {
		return well("%s", strings.TrimRight(version, ",)"))
	}
	remedy := "install it anew: apt-get install --reinstall " + p.name
	if err == nil {
		err = errors.New("it names no version")
	}
	if p.needed {
		return wrong(remedy, "it cannot be run: %s", oneLine(err.Error()))
	}
	return warning(remedy, "it cannot be run: %s", oneLine(err.Error()))
}

// judgeCodecs wants what the station encodes with, and the decoder of what phones send to
// channels of others.
func judgeCodecs(encoders, decoders string, err error) Result {
	const remedy = "install Debian's ffmpeg, which has them: apt-get install ffmpeg"
	if err != nil {
		return wrong(remedy, "ffmpeg does not say what it has: %s", oneLine(err.Error()))
	}
	var missing []string
	for _, want := range []struct{ list, name, what string }{
		{encoders, "libmp3lame", "mastering, recordings, live"}, {encoders, "aac", "HLS"}, {encoders, "libvorbis", "standby audio, channels"}, {decoders, "libopus", "encoders that send Opus"},
	} {
		if !listed(want.list, want.name) {
			missing = append(missing, want.name+" ("+want.what+")")
		}
	}
	if len(missing) > 0 {
		return wrong(remedy, "ffmpeg lacks %s", strings.Join(missing, ", "))
	}
	return well("libmp3lame, aac, libvorbis; decoder libopus")
}

// listed reports that a list of ffmpeg's has a name, in its second column.
func listed(list, name string) bool {
	for line := range strings.Lines(list) {
		if c := strings.Fields(line); len(c) > 1 && c[1] == name {
			return true
		}
	}
	return false
}

func judgeModule(err error) Result {
	if err != nil {
		return wrong("apt-get install libnginx-mod-rtmp", "%s: encoders cannot send by RTMP, and nginx does not start", oneLine(err.Error()))
	}
	return well("%s", rtmpModule)
}
