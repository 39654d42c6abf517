package onalarm

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/alarm/bell"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/certificate"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/node/supervise"
)

const (
	// leastRoom is the room that a disk should have, unless a share of it is less.
	leastRoom  = 1 << 30 // bytes
	leastShare = 20      // one of so many parts
	// secondTry is how long a backup has been failing when the second try at it failed too.
	secondTry = 6 * time.Minute
)

// conditions are what is looked at beside the guard, whose alarms come as they are raised.
func conditions(o Options) []bell.Condition {
	out := []bell.Condition{
		{Kind: alarm.DiskFull, Holds: 10 * time.Second, Read: func(ctx context.Context) (string, bool) {
			_, full, err := o.Node(ctx)
			if file.OutOfRoom(o.Config.DataDir) {
				full = o.Config.DataDir
			} else if err != nil {
				return "", false
			}
			return full, true
		}},
		{Kind: alarm.DiskLow, Holds: time.Minute, Read: func(context.Context) (string, bool) { return low(o.Config), true }},
		{Kind: alarm.Program, Holds: time.Minute, Read: func(ctx context.Context) (string, bool) {
			programs, _, err := o.Node(ctx)
			return down(programs), err == nil
		}},
		{Kind: alarm.OnSpare, Read: o.OnSpare},
		{Kind: alarm.NoSpare, Holds: time.Minute, Read: o.NoSpare},
		{Kind: alarm.Bus, Read: func(context.Context) (string, bool) { return o.Bus(), true }},
		{Kind: alarm.Backup, Holds: secondTry, Read: func(context.Context) (string, bool) { return o.Backup(), true }},
	}
	if cert := o.Config.Live.TLSCert; cert != "" {
		out = append(out, bell.Condition{Kind: alarm.Certificate, Read: func(context.Context) (string, bool) { return expiring(cert, time.Now()), true }})
	}
	return out
}

// low names the folders whose disks have little room left.
func low(cfg *config.Config) string {
	var out []string
	for _, dir := range []string{cfg.DataDir, cfg.MediaDir()} {
		free, size, err := file.Space(dir)
		if text := fmt.Sprintf("%s: %d MB free", dir, free>>20); err == nil && tight(free, size) {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

func tight(free, size uint64) bool { return size > 0 && free < min(leastRoom, size/leastShare) }

// down names the programs that do not run, or do not work and are left alone.
func down(programs []supervise.Status) string {
	var out []string
	for _, p := range programs {
		switch {
		case p.State != supervise.Running.String():
			text := p.Name + ": " + p.State
			if p.LastExit != "" {
				text += ", it last ended with " + p.LastExit
			}
			out = append(out, text)
		case p.Condition == supervise.Wedged && p.Spared != "":
			out = append(out, fmt.Sprintf("%s does not work (%s) and is left alone: %s", p.Name, p.Why, p.Spared))
		}
	}
	return strings.Join(out, "; ")
}

// expiring says why a certificate is not good for long; empty: it is.
func expiring(path string, now time.Time) string {
	leaf, err := certificate.Leaf(path)
	switch {
	case err != nil:
		return err.Error()
	case now.After(leaf.NotAfter):
		return fmt.Sprintf("%s is not valid since %s", path, leaf.NotAfter.UTC().Format(time.DateOnly))
	case leaf.NotAfter.Sub(now) < certificate.RenewAhead:
		return fmt.Sprintf("%s is valid until %s", path, leaf.NotAfter.UTC().Format(time.DateOnly))
	}
	return ""
}

// well returns why the heartbeat is held back; empty: the station is heard and keeps what it
// is told. Without the guard nobody hears it: then its programs must run.
func well(ctx context.Context, o Options) string {
	if err := o.Database(); err != nil {
		return err.Error()
	}
	if standing, on := o.Guard(); on {
		if standing.State == "watching" && standing.Arriving {
			return ""
		}
		return strings.TrimSpace("the dead-air guard is in the state " + standing.State + " " + string(standing.Kind))
	}
	programs, _, err := o.Node(ctx)
	if err != nil {
		return err.Error()
	}
	running := map[string]bool{}
	for _, p := range programs {
		running[p.Name] = p.State == supervise.Running.String()
	}
	if !running[playout.Program] || !running[icecast.Program] {
		return playout.Program + " or " + icecast.Program + " does not run"
	}
	return ""
}
