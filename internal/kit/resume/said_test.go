package resume_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/kit/resume"
)

func TestWhatAnUploadSaysIsReadForALog(t *testing.T) {
	pair := func(key, value string) string { return key + " " + base64.StdEncoding.EncodeToString([]byte(value)) }
	for header, want := range map[string]string{
		pair("batch", "b1") + "," + pair("filename", "أغنية.mp3"): "أغنية.mp3", pair("filename", "a\nb\x1b[2J.mp3"): "ab[2J.mp3",
		"filename !": "", "filename": "", "": "", pair("filename", "\xff"): "", pair("filename", strings.Repeat("x", resume.LongestMetadata)): "",
	} {
		if got := resume.Said([]string{header}, "filename"); got != want {
			t.Errorf("%.40q says %.40q, want %q", header, got, want)
		}
	}
	if got := resume.Said([]string{pair("batch", "b1"), pair("filename", "a.mp3")}, "filename"); got != "a.mp3" {
		t.Errorf("of two headers %q", got)
	}
}
