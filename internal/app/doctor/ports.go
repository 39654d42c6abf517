package doctor

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/kit/port"
)

// holding is what was seen of a port.
type holding struct {
	listens bool
	pid     int    // 0: another user's process
	command string // of it
	ours    bool   // it belongs to the station
}

func (o Options) portChecks(now alive) (out []check) {
	for _, p := range o.Ports {
		out = append(out, check{"port " + p.Name, usual, func(context.Context) Result {
			role := now.of(p.Role)
			var h holding
			h.pid, h.command, h.listens = port.Holder(p.Number)
			h.ours = h.pid != 0 && role != 0 && descends(h.pid, role)
			return judgePort(p, h, now.running(), role != 0)
		}})
	}
	return out
}

// judgePort wants a port held by the station while it runs, and by nobody else ever.
func judgePort(p Port, h holding, running, expected bool) Result {
	remedy := fmt.Sprintf("stop it, or set ports.%s to another port", p.Name)
	who := fmt.Sprintf("%s (process %d)", h.command, h.pid)
	switch {
	case !h.listens && !expected:
		return well("%d is free", p.Number)
	case !h.listens:
		return wrong("the log says why its part does not run", "nobody listens on %d, although the station runs", p.Number)
	case h.pid == 0 && running:
		return well("%d is held by a process of another user, as it should be where the station has its own: run this as that user to be sure", p.Number)
	case h.ours:
		return well("%d is held by the station: %s", p.Number, who)
	case h.pid == 0:
		return wrong(remedy, "%d is taken by a process of another user", p.Number)
	}
	return wrong(remedy, "%d is taken by %s, which is not of this station", p.Number, who)
}

// descends reports whether a process is another or was started below it.
func descends(pid, from int) bool {
	for range 32 { // a tree is not deeper, and /proc changes meanwhile
		if pid == from {
			return true
		}
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return false
		}
		_, after, _ := strings.Cut(string(stat), ") ") // the command may hold spaces
		fields := strings.Fields(after)
		if len(fields) < 2 {
			return false
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil || pid <= 1 {
			return false
		}
	}
	return false
}
