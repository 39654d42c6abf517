package cli

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/systemd"
	"github.com/athir-radio/athir/internal/web/front"
)

// screen shows where the running station is: on the screen of who started it, and as a
// line of the log where that was the service manager.
func (g globals) screen(log *slog.Logger, cfg *config.Config, onAir time.Duration) {
	if systemd.Find() == nil {
		printScreen(g.out, cfg, onAir)
		return
	}
	host := doors.ShownHost(cfg.Bind)
	log.Info("serving", "listen", "http://"+net.JoinHostPort(host, strconv.Itoa(cfg.Ports.Player))+"/",
		"studio", "http://"+net.JoinHostPort(host, strconv.Itoa(cfg.Ports.Control))+"/studio", "settings", cfg.File(), "media", cfg.MediaDir())
}

// printScreen prints the addresses and folders of the running station.
func printScreen(out io.Writer, cfg *config.Config, onAir time.Duration) {
	host := doors.ShownHost(cfg.Bind)
	at := func(port int, path string) string {
		return "http://" + net.JoinHostPort(host, strconv.Itoa(port)) + path
	}
	since := ""
	if onAir > 0 {
		since = fmt.Sprintf(" · on air after %.1f s", onAir.Seconds())
	}
	warning := ""
	if cfg.StationKey == "" {
		warning = "\n  WITHOUT A KEY       whoever reaches the studio steers the station (open: true)\n"
	}
	rule := "────────────────────────────────────────────────────────────────────────"
	_, _ = fmt.Fprintf(out, `
%s
  %s · على الأثير%s

  Listen       %s
  Studio       %s
  Stream       %s
  Icecast      %s
  HLS          %s
%s
  Settings and keys   %s
  Media library       %s
  Stop                Ctrl-C
%s
`, rule, cfg.Name, since,
		at(cfg.Ports.Player, "/"), at(cfg.Ports.Control, "/studio"), at(cfg.Ports.Control, "/stream"),
		at(cfg.Ports.Icecast, "/main")+besides(cfg), at(cfg.Ports.Player, front.HLSPrefix+"main/index.m3u8"),
		warning,
		cfg.File(), cfg.MediaDir(), rule)
}

// besides names the mounts beside the main one.
func besides(cfg *config.Config) (text string) {
	all, _ := cfg.Icecast.Beside() // the settings were validated
	for _, m := range all {
		text += ", ." + m.Codec
	}
	return text
}
