package api

import (
	"context"

	"github.com/athir-radio/athir/internal/alarm/bell"
)

// Alarms tells operators when something is wrong.
type Alarms interface {
	Standing() bell.Standing
	// Test sends a message to every receiver now, and returns what came of each.
	Test(ctx context.Context) []bell.Result
}

// alarms returns the rows of alarms. None is in the mission.
func (s *Server) alarms() []route {
	const at = "/api/station/alarms"
	return []route{
		{get, at, inside, operating, "The alarms that are on, and how their receivers stand", typed(s.alarmStanding)},
		{post, at + "/test", owns, heavy, "Send a test to every receiver of alarms now, and say what came of each", typed(s.testAlarms)},
	}
}

type alarmsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         bell.Standing
}

func (s *Server) alarmStanding(context.Context, *struct{}) (*alarmsAnswer, error) {
	if s.opt.Alarms == nil {
		return &alarmsAnswer{"no-store", bell.Standing{On: []bell.On{}, Receivers: []bell.State{}}}, nil
	}
	return &alarmsAnswer{"no-store", s.opt.Alarms.Standing()}, nil
}

type alarmTestAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Results []bell.Result `json:"results" nullable:"false" doc:"Of each receiver of the settings; none where none is set up"`
	}
}

func (s *Server) testAlarms(ctx context.Context, _ *struct{}) (*alarmTestAnswer, error) {
	out := &alarmTestAnswer{CacheControl: "no-store"}
	out.Body.Results = []bell.Result{}
	if s.opt.Alarms != nil {
		out.Body.Results = s.opt.Alarms.Test(ctx)
	}
	return out, nil
}
