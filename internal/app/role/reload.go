package role

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/mattn/go-isatty"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/reexec"
)

// waiting are the settings that wait for a restart.
type waiting struct{ names atomic.Pointer[[]string] }

func (w *waiting) set(names []string) { w.names.Store(&names) }

func (w *waiting) get() []string {
	if names := w.names.Load(); names != nil {
		return *names
	}
	return nil
}

// heldName is what settings are called that a program leaves to the next: config.Held.
const heldName = "settings until a restart"

// Resume has settings that the program before held until a restart be in force again. It is
// the first that is done with them.
func Resume(cfg *config.Config, h *reexec.Handover) error {
	var held map[string]string
	if h == nil || !h.Read(heldName, &held) {
		return nil
	}
	return cfg.Keep(held)
}

// leave gives the next program the settings that wait for a restart as they are in force.
func (r Role) leave() error {
	if !r.Handover.Leaving() {
		return nil
	}
	held, err := r.Config.Held()
	if err != nil {
		return err
	}
	return r.Handover.Write(heldName, held)
}

// hangups are the SIGHUPs from now on, until stop. On a terminal SIGHUP says that the
// terminal is gone, and ends the program as ever: there are none.
func hangups() (asked <-chan os.Signal, stop func()) {
	if isatty.IsTerminal(os.Stderr.Fd()) {
		return nil, func() {}
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// reloads has the role read its settings anew at each SIGHUP, until ctx ends: it goes on as
// its own program, as in an upgrade, so nobody is disconnected.
func (r Role) reloads(ctx context.Context, w Work, pending *waiting, asked <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-asked:
			r.reload(ctx, w, pending)
		}
	}
}

// reload reads the settings and puts those in force that may change at once, or says why
// not. What needs a restart is named, and waits for one.
func (r Role) reload(ctx context.Context, w Work, pending *waiting) {
	next, err := r.Config.Again()
	if err != nil {
		r.Log.Error("settings not reloaded, those in force stay", "err", err)
		return
	}
	var fixed, changed []string
	for _, name := range r.Config.Changed(next) {
		if config.NeedsRestart(name) {
			fixed = append(fixed, name)
		} else {
			changed = append(changed, name)
		}
	}
	told := slices.Equal(pending.get(), fixed)
	pending.set(fixed)
	if len(fixed) > 0 {
		r.Log.Warn("settings wait for a restart", "need_restart", config.WithRole(fixed))
	}
	if len(changed) == 0 {
		r.Log.Info("no other settings have changed, nothing to reload")
		if !told && w.Reload != nil { // the others say what waits, each for itself
			if err := w.Reload(ctx); err != nil {
				r.Log.Error("settings not read anew by every role", "err", err)
			}
		}
		return
	}
	if err := r.Config.Fits(next); err != nil {
		r.Log.Error("settings not reloaded: beside those that wait for a restart they are wrong", "err", err, "changed", changed, "need_restart", fixed)
		return
	}
	if w.Busy != nil {
		if why := w.Busy(); why != "" {
			r.Log.Warn("settings not reloaded while somebody is live: ask again afterwards", "busy", why)
			return
		}
	}
	r.Log.Info("reloading settings", "changed", changed)
	if w.Reload != nil {
		if err := w.Reload(ctx); err != nil {
			r.Log.Error("settings not reloaded by every role", "err", err)
			return
		}
	}
	self, err := os.Open(proc.Self)
	if err == nil {
		err = r.Handover.Order(self)
	}
	if err != nil {
		r.Log.Error("settings not reloaded", "err", err)
	}
}
