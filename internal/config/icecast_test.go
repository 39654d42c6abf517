package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/node/mounts"
)

func TestMountsBesideTheMainOne(t *testing.T) {
	for text, want := range map[string][]mounts.Mount{
		"": nil, "mp3=128": {{Codec: "mp3", Kbps: 128}}, "mp3=24, aac=320": {{Codec: "mp3", Kbps: 24}, {Codec: "aac", Kbps: 320}}, "aac=97": {{Codec: "aac", Kbps: 97}},
	} {
		cfg, err := Parse([]byte(keysOnly), nil, []string{"ATHIR_ICECAST_MOUNTS=" + text})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got, err := cfg.Icecast.Beside(); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, why := range map[string]string{
		"mp3":              `icecast.mounts: "mp3" must be a codec, mp3 or aac, and its kbit/s, as in mp3=128`,
		"ogg=128":          `"ogg=128" must be a codec`,
		"mp3=128k":         `"mp3=128k" must be a codec`,
		"aac=23":           `"aac=23" must have 24 to 320 kbit/s`,
		"aac=321":          `"aac=321" must have 24 to 320 kbit/s`,
		"mp3=100":          `"mp3=100" is no bitrate of MP3: use one of 24 32 40 48 56 64 80 96 112 128 160 192 224 256 320`,
		"mp3=128, mp3=64":  `"mp3=64" is a second mp3: a mount is named by its codec`,
		"aac=1, flac=1000": `"flac=1000" must be a codec`,
	} {
		_, err := Parse([]byte(keysOnly), nil, []string{"ATHIR_ICECAST_MOUNTS=" + text})
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", text, err, why)
		}
	}
}

// HE-AAC, which sounds well below 64 kbit/s, has no encoder in Debian.
func TestRenditionsAreThoseThatAACCanCarry(t *testing.T) {
	for text, why := range map[string]string{
		"256,128,64": "", "64": "", "512,64": "",
		"256,48":           "hls.renditions: 48 must be 64 to 512 kbit/s: below that only HE-AAC sounds well, which Debian's ffmpeg cannot make",
		"513":              "hls.renditions: 513 must be 64 to 512 kbit/s",
		"64,64":            "hls.renditions: 64 is named twice",
		"64,80,96,128,256": "hls.renditions: must name 1 to 4 bitrates",
	} {
		_, err := Parse([]byte(keysOnly), nil, []string{"ATHIR_HLS_RENDITIONS=" + text})
		if (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", text, err, why)
		}
	}
}

// The page offers what there is to choose.
func TestMediaMTXServesTheMainRendition(t *testing.T) {
	for text, want := range map[string]string{"": "[256 128 64]", "/usr/bin/mediamtx": "[256]"} {
		cfg, err := Parse([]byte(keysOnly), nil, []string{"ATHIR_HLS_MEDIAMTX=" + text})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(cfg.HLS.Served()); got != want {
			t.Errorf("with %q: %s", text, got)
		}
	}
}
