package ffmpeg_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
)

// standing is a WebM of Opus packets of 120 ms in eight bytes each, all of which claim to
// be heard at the same time.
func standing(packets int) string {
	element := func(id, content string) string { return id + string([]byte{0x80 | byte(len(content))}) + content }
	track := element("\xd7", "\x01") + element("\x73\xc5", "\x01") + element("\x83", "\x02") + element("\x86", "A_OPUS") +
		element("\x63\xa2", "OpusHead\x01\x01\x00\x00\x80\xbb\x00\x00\x00\x00\x00") +
		element("\xe1", element("\xb5", "\x47\x3b\x80\x00")+element("\x9f", "\x01"))
	const segment, cluster = "\x18\x53\x80\x67\xff", "\x1f\x43\xb6\x75\xff" // of unknown size
	return element("\x1a\x45\xdf\xa3", element("\x42\x82", "webm")) + segment +
		element("\x16\x54\xae\x6b", element("\xae", track)) +
		cluster + element("\xe7", "\x00") + strings.Repeat(element("\xa3", "\x81\x00\x00\x80\x1b\x02"), packets)
}

// Whoever made the file also wrote its times.
func TestNoMoreIsDecodedThanWasAskedWhateverTheTimesInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "standing.webm")
	if err := os.WriteFile(path, []byte(standing(1000)), 0o600); err != nil { // two minutes
		t.Fatal(err)
	}
	for _, most := range []time.Duration{time.Second, 30 * time.Second} {
		if length, err := ffmpeg.LengthUpTo(t.Context(), path, most); err != nil || length != most {
			t.Errorf("up to %v: %v, %v", most, length, err)
		}
	}
	if length, err := ffmpeg.Length(t.Context(), path); err != nil || (length-2*time.Minute).Abs() > time.Second {
		t.Errorf("the whole: %v, %v", length, err)
	}
}

func TestFilesAreLookedAtBehindWhatAirs(t *testing.T) {
	nice := 10
	own, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	if own = 20 - own; own > nice && os.Getuid() != 0 {
		nice = own // which only root can take back
	}
	// The niceness is given to a program that runs already.
	script := fmt.Sprintf("#!/bin/sh\ni=0\nwhile [ $(nice) != %d ] && [ $i -lt 1000 ]; do i=$((i+1)); done\necho niceness $(nice) >&2\nexit 1\n", nice)
	dir := t.TempDir()
	for _, program := range []string{"ffmpeg", "ffprobe"} {
		testkit.Executable(t, filepath.Join(dir, program), []byte(script))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	_, probe := ffmpeg.Probe(t.Context(), "any")
	_, length := ffmpeg.Length(t.Context(), "any")
	for what, err := range map[string]error{"probe": probe, "length": length} {
		if err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf("niceness %d", nice)) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
