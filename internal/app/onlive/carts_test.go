package onlive

import (
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/live/carts"
	"github.com/athir-radio/athir/internal/station"
)

// A cart's file is what airs of it: on this machine by its path, on a node elsewhere by the
// library's. A name that is no UTF-8 is found as the API shows it, and what is not in the
// library is missing.
func TestTheFileOfACartIsWhatAirs(t *testing.T) {
	at := time.Unix(0, 0x2a)
	lib := &media.Snapshot{Tracks: []station.Track{
		{Path: "sfx/bad\xff.mp3", Title: "Bad", Duration: time.Second, Size: 16, ModTime: at},
		{Path: "sfx/boo.mp3", Title: "Boo", Duration: 900 * time.Millisecond, Size: 255, ModTime: at},
	}}
	f := &cartFiles{library: func() *media.Snapshot { return lib }, airs: func(rel string) string { return "/mastered/v2-" + rel[4:] }}
	for file, want := range map[string]carts.File{
		"sfx/boo.mp3":       {Path: "/mastered/v2-boo.mp3", Stamp: "ff-2a", Title: "Boo", DurationMS: 900},
		"sfx/bad\ufffd.mp3": {Path: "/mastered/v2-bad\xff.mp3", Stamp: "10-2a", Title: "Bad", DurationMS: 1000},
	} {
		if got, there := f.find(file); !there || got != want {
			t.Errorf("%s: %+v, %v", file, got, there)
		}
	}
	for _, file := range []string{"sfx/none.mp3", "../athir.yaml", "sfx/none\ufffd.mp3", ""} {
		if got, there := f.find(file); there {
			t.Errorf("%q: %+v", file, got)
		}
	}
	lib = &media.Snapshot{Tracks: lib.Tracks[1:]}
	if got, there := f.find("sfx/bad\ufffd.mp3"); there {
		t.Errorf("after it left the library: %+v", got)
	}
	f.remote = true
	if got, _ := f.find("sfx/boo.mp3"); got.Path != "sfx/boo.mp3" || got.Stamp != "ff-2a-v2-boo.mp3" {
		t.Errorf("elsewhere: %+v", got)
	}
}
