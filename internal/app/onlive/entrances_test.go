package onlive

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/web/api"
)

// The studio makes links by these: an https link to a port without a certificate is dead.
func TestEntrancesSayWhetherThePhonesPortSpeaksHTTPS(t *testing.T) {
	cfg := &config.Config{}
	cfg.Ports.WHIP, cfg.Ports.Live, cfg.Ports.RTMP = 8089, 8007, 19350
	want := api.LiveEntrances{WHIP: 8089, Source: 8007, RTMP: 19350}
	if d := cmp.Diff(want, entrances(cfg)); d != "" {
		t.Error(d)
	}
	cfg.Live.TLSCert, cfg.Live.Address = "/etc/ssl/radio.pem", "https://live.radio.example:8089"
	want.Secure, want.GoLive = true, "https://live.radio.example:8089/go-live"
	if d := cmp.Diff(want, entrances(cfg)); d != "" {
		t.Error(d)
	}
}
