package doctor

import (
	"context"
	"strings"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/config"
)

// restartCheck asks the roles of a running station which settings wait for a restart.
func (o Options) restartCheck(now alive) check {
	return check{"new settings", usual, func(ctx context.Context) Result {
		if !now.running() {
			return skipped(notRunning)
		}
		sockets, err := doors.SocketDir(o.Config)
		if err != nil {
			return judgeRestart(nil, err)
		}
		states, err := role.States(ctx, sockets)
		return judgeRestart(role.Pending(states), err)
	}}
}

func judgeRestart(names []string, err error) Result {
	switch {
	case len(names) > 0:
		return warning("restart the station, or what stands in brackets, when nobody is harmed by it; listeners are disconnected",
			"changed in athir.yaml and not in force: %s", strings.Join(config.WithRole(names), ", "))
	case err != nil:
		return skipped("%s", oneLine(err.Error()))
	}
	return well("no setting waits for a restart")
}
