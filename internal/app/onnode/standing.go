package onnode

import (
	"context"

	"github.com/athir-radio/athir/internal/node/remote"
	"github.com/athir-radio/athir/internal/web/api"
)

// Standing says which node has the air; nil where the node is on this machine.
func (h *Holder) Standing() func() *api.NodeStanding {
	far := h.far.Load()
	if far == nil {
		return nil
	}
	return func() *api.NodeStanding {
		s := far.Lease.Standing()
		out := &api.NodeStanding{Name: s.Holder, Host: s.Host, Fence: s.Fence, OnSpare: s.OnSpare, Wanted: far.Copy != nil, TookWhy: s.Took.Why}
		out.ClockMS, out.Unseen = ahead(far.Clock), s.Unseen.Milliseconds()
		if !s.Took.At.IsZero() {
			out.TookAt = s.Took.At.UnixMilli()
		}
		if far.Copy == nil {
			return out
		}
		if spare, stands := far.Lease.Spare(); stands {
			c := far.Copy.State()
			out.Spare = &api.SpareStanding{
				Name: spare.Name, Host: spare.Host, Entries: c.Entries, Missing: c.Missing, Bytes: c.MissingBytes, InPlace: c.InPlace, Problem: c.Problem,
				ClockMS: ahead(far.SpareClock()), Unseen: s.SpareUnseen.Milliseconds(),
			}
		}
		return out
	}
}

func ahead(c *remote.Clock) int64 {
	by, _ := c.Ahead()
	return by.Milliseconds()
}

// Deserted says that no spare stands by where the settings name one, or that its copy is
// behind; empty: all is well.
func (h *Holder) Deserted(context.Context) (wrong string, known bool) {
	standing := h.Standing()
	if standing == nil {
		return "", true
	}
	switch s := standing(); {
	case !s.Wanted || s.Name == "":
		return "", true
	case s.Spare == nil:
		return "no node stands by beside " + s.Name, true
	case s.Spare.Problem != "":
		return s.Spare.Name + ": " + s.Spare.Problem, true
	}
	return "", true
}

// OnSpare says that the spare has the air; empty: the first node has it.
func (h *Holder) OnSpare(context.Context) (wrong string, known bool) {
	standing := h.Standing()
	if standing == nil {
		return "", true
	}
	if s := standing(); s.OnSpare {
		if s.TookWhy == "" {
			return s.Name, true
		}
		return s.Name + ": " + s.TookWhy, true
	}
	return "", true
}

// Metrics are those of the spare; none where the settings name no spare.
func (h *Holder) Metrics() []api.Metric {
	standing := h.Standing()
	if standing == nil || h.cfg.Node.Spare == "" {
		return nil
	}
	one := func(read func(*api.NodeStanding) float64) func(func(float64, string)) {
		return func(add func(float64, string)) { add(read(standing()), "") }
	}
	return []api.Metric{
		{Name: "node_fence", Help: "Fence of the node that has the air: higher with each change of the node.", Read: one(func(s *api.NodeStanding) float64 { return float64(s.Fence) })},
		{Name: "node_on_spare", Help: "1 while the node at node.spare has the air.", Read: one(func(s *api.NodeStanding) float64 { return yes(s.OnSpare) })},
		{Name: "node_spare", Help: "1 while a spare node stands by.", Read: one(func(s *api.NodeStanding) float64 { return yes(s.Spare != nil) })},
		{Name: "node_spare_missing", Help: "Entries still to come whose media the spare lacks; all of them while it does not have the list.", Read: one(func(s *api.NodeStanding) float64 {
			if s.Spare == nil {
				return 0
			}
			return float64(s.Spare.Missing)
		})},
	}
}

func yes(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
