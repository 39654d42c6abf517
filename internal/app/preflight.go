package app

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/app/doctor"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/port"
	"github.com/athir-radio/athir/internal/kit/proc"
)

// preflight reports everything that would keep the station from starting in one
// error, so that it can be fixed in one go. runs says that the station is running already,
// and this program takes it over.
func preflight(cfg *config.Config, withControl, runs bool) error {
	var wrong []error
	for _, p := range doctor.Needed(cfg) {
		if _, err := proc.Look(p); err != nil {
			wrong = append(wrong, err)
		}
	}
	for _, p := range served(cfg) {
		if runs {
			break // by this very station
		}
		if (p.name == "control" || p.name == "nats") && !withControl {
			continue
		}
		var busy *port.BusyError
		if err := port.Check(p.addr); errors.As(err, &busy) {
			wrong = append(wrong, fmt.Errorf("ports.%s: %w: stop it, or set another port in %s or with ATHIR_PORTS_%s",
				p.name, busy, cfg.File(), strings.ToUpper(p.name)))
		} else if err != nil {
			wrong = append(wrong, fmt.Errorf("ports.%s: %w", p.name, err))
		}
	}
	if err := ReadableMedia(cfg); err != nil {
		wrong = append(wrong, err)
	}
	if f := cfg.Playout.Emergency; f != "" {
		if _, err := os.Stat(f); err != nil {
			wrong = append(wrong, fmt.Errorf("playout.emergency: %w", err))
		}
	}
	return errors.Join(wrong...)
}

// ReadableMedia creates the media folder if it is missing, and reads it. A new station
// creates no folder above it: a path of which more is missing is mistyped, as a rule. One
// that has been on the air goes on without its disk.
func ReadableMedia(cfg *config.Config) error {
	dir, create := cfg.MediaDir(), os.Mkdir
	if _, err := os.Stat(cfg.Database()); err == nil {
		create = os.MkdirAll
	}
	if err := create(dir, 0o755); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("media: %s does not exist, nor does the folder above it: choose a readable folder with --media", dir)
	} else if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("media: %w: choose a readable folder with --media", err)
	}
	if _, err := os.ReadDir(dir); err != nil {
		who := "this user"
		if u, uerr := user.Current(); uerr == nil {
			who = "user " + u.Username
		}
		return fmt.Errorf("media: %w: let %s read it, or choose another folder with --media", err, who)
	}
	return nil
}

// listener is one address the station serves on.
type listener struct{ name, addr string }

func served(cfg *config.Config) []listener {
	p := cfg.Ports
	inner := func(port int) string { return net.JoinHostPort(cfg.Inner(), strconv.Itoa(port)) }
	out := []listener{
		{"control", cfg.Public(p.Control)}, {"icecast", cfg.Public(p.Icecast)},
		{"harbor", config.Local(p.Harbor)}, {"player", cfg.Public(p.Player)},
		{"chat", cfg.Public(p.Chat)}, {"rtmp", cfg.Public(p.RTMP)}, {"hls", cfg.Public(p.HLS)}, {"paths", inner(p.Paths)},
		{"live", cfg.Public(p.Live)}, {"whip", cfg.Public(p.WHIP)}, {"media", cfg.Public(p.Media)},
	}
	if cfg.Bus.URL == "" {
		host, port := cfg.BusListen()
		out = append(out, listener{"nats", net.JoinHostPort(host, strconv.Itoa(port))})
	}
	return out
}
