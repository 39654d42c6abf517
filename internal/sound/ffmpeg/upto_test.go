package ffmpeg_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
