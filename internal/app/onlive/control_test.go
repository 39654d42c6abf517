package onlive

import (
	"testing"

	"github.com/athir-radio/athir/internal/config"
)

// What comes by the node's own RTMP ingest is there while somebody sends it, other addresses
// always; MediaMTX does not tell who does.
func TestOnlyTheOwnIngestTellsWhoSends(t *testing.T) {
	cfg := &config.Config{}
	cfg.Ports.RTMP = 19350
	own := rtmpOwn(cfg) + "live/sara"
	for url, want := range map[string]bool{own: true, "rtmp://radio.example/live/sara": false, "https://radio.example/live.mp3": false} {
		if got := sent(cfg)(url); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
	cfg.HLS.MediaMTX = "/usr/bin/mediamtx"
	if sent(cfg)(own) {
		t.Error("MediaMTX tells who sends")
	}
}
