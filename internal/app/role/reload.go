package role

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/mattn/go-isatty"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/proc"
)

// reloads has the role read its settings anew at each SIGHUP, until ctx ends: it goes on as
// its own program, as in an upgrade, so nobody is disconnected. On a terminal SIGHUP says
// that the terminal is gone, and ends the program as ever.
func (r Role) reloads(ctx context.Context, w Work) error {
	if isatty.IsTerminal(os.Stderr.Fd()) {
		return nil
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGHUP)
	defer signal.Stop(asked)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-asked:
			r.reload(ctx, w)
		}
	}
}

// reload reads the settings and puts them in force, or says why not.
func (r Role) reload(ctx context.Context, w Work) {
	next, err := r.Config.Again()
	if err != nil {
		r.Log.Error("settings not reloaded, those in force stay", "err", err)
		return
	}
	changed := r.Config.Changed(next)
	if fixed := slices.DeleteFunc(slices.Clone(changed), func(name string) bool { return !config.NeedsRestart(name) }); len(fixed) > 0 {
		r.Log.Error("settings not reloaded: some need a restart of the station; take those back to reload the others", "need_restart", fixed, "changed", changed)
		return
	}
	if len(changed) == 0 {
		r.Log.Info("settings are as before, nothing to reload")
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
