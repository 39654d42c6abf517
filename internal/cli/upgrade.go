package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/upgrade"
	"github.com/athir-radio/athir/internal/config"
)

type upgradeCmd struct {
	dataFlags
	Wait time.Duration `help:"How long to wait for who is live; after that their roles follow by themselves once they are free." default:"0s" placeholder:"TIME"`
	Now  bool          `help:"Wait for nobody: cut off who is live."`
	JSON bool          `name:"json" help:"Print one JSON line for each role."`
}

// Run upgrades the station of the data directory to this very program.
func (c upgradeCmd) Run(g globals) error {
	data, err := filepath.Abs(c.Data)
	if err != nil {
		return err
	}
	// The settings are the roles' to read: they may have some from their environment.
	sockets, err := doors.SocketDir(&config.Config{DataDir: data})
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	_, err = upgrade.Run(g.ctx, upgrade.Options{
		Sockets: sockets, Program: self, Version: g.version, Data: data, Wait: c.Wait, Now: c.Now, Show: c.show(g.out),
	})
	if errors.Is(err, upgrade.ErrWentBack) {
		return fmt.Errorf("%w; the log of the role says more", err)
	}
	return err
}

// show prints each step once it is done.
func (c upgradeCmd) show(out io.Writer) func(upgrade.Step) {
	return func(s upgrade.Step) {
		if s.Outcome == "" {
			return
		}
		if c.JSON {
			_ = jsonLine(out, s) // a reader that is gone stops nothing
			return
		}
		took := ""
		if s.Took > 0 {
			took = fmt.Sprintf("in %.2f s", s.Took)
		}
		_, _ = fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("  %-8s %s → %s  %s %s", s.Role, s.From, s.To, s.Outcome, cmp.Or(s.Detail, took)), " "))
	}
}
