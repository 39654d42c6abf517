package app

import (
	"context"
	"net"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/app/doctor"
	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/app/onnode"
	"github.com/athir-radio/athir/internal/config"
)

// Doctor looks at a station and its machine. cfg is as far as the settings can be read, and
// nil where they cannot be; wrong is what is wrong with them.
func Doctor(ctx context.Context, cfg *config.Config, wrong error, offline bool) []doctor.Result {
	o := doctor.Options{Config: cfg, Settings: wrong, Offline: offline}
	if cfg != nil {
		o.See = onnode.Seeing(cfg)
		o.NewestBackup = func() (time.Time, error) {
			b, err := onbackup.Latest(cfg)
			return b.Made, err
		}
		o.Reach = func() (time.Time, time.Duration, error) { return onbackup.Reach(cfg) }
		for _, l := range served(cfg) {
			_, number, _ := net.SplitHostPort(l.addr)
			p := doctor.Port{Name: l.name, Role: "node"}
			if p.Number, _ = strconv.Atoi(number); l.name == "control" || l.name == "nats" {
				p.Role = "control"
			}
			o.Ports = append(o.Ports, p)
		}
	}
	return doctor.Run(ctx, o)
}
