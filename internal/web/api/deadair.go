package api

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	deadair "github.com/athir-radio/athir/internal/onair/guard"
)

// DeadAir is the dead-air guard.
type DeadAir interface {
	Status() deadair.Standing
	Totals() deadair.Totals
	// History returns at most n alarms, newest first.
	History(ctx context.Context, n int) ([]deadair.Alarm, error)
}

// deadAir returns the rows of the dead-air guard. None is in the mission.
func (s *Server) deadAir() []route {
	return []route{
		{get, "/api/station/guard", inside, operating, "The dead-air guard, and its alarms", typed(s.guardHistory)},
	}
}

// guardStatus returns the guard's state, also when it is switched off.
func (s *Server) guardStatus() deadair.Standing {
	if s.opt.DeadAir == nil {
		return deadair.Standing{State: "off"}
	}
	return s.opt.DeadAir.Status()
}

type guardAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Guard  deadair.Standing `json:"guard"`
		Alarms []deadair.Alarm  `json:"alarms" nullable:"false" doc:"Newest first"`
	}
}

func (s *Server) guardHistory(ctx context.Context, in *struct {
	Limit int `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"The most alarms"`
},
) (*guardAnswer, error) {
	out := &guardAnswer{CacheControl: "no-store"}
	out.Body.Guard, out.Body.Alarms = s.guardStatus(), []deadair.Alarm{}
	if s.opt.DeadAir == nil {
		return out, nil
	}
	var err error
	out.Body.Alarms, err = s.opt.DeadAir.History(ctx, in.Limit)
	return out, err
}

// guardMetrics reads the guard once per scrape.
type guardMetrics struct {
	guard                                   DeadAir
	alarms, seconds, steps, up, loud, short *prometheus.Desc
}

func newGuardMetrics(g DeadAir) *guardMetrics {
	return &guardMetrics{
		guard:   g,
		alarms:  prometheus.NewDesc("athir_dead_air_total", "Alarms of the dead-air guard since the control plane started.", []string{"kind"}, nil),
		seconds: prometheus.NewDesc("athir_dead_air_seconds_total", "Time in which listeners heard nothing.", nil, nil),
		steps:   prometheus.NewDesc("athir_guard_steps_total", "Steps the dead-air guard has taken.", []string{"step"}, nil),
		up:      prometheus.NewDesc("athir_guard_state", "1 for the state the dead-air guard is in.", []string{"state"}, nil),
		short:   prometheus.NewDesc("athir_node_short", "1 while the programs behind the sound lack processor time, memory or their disk.", nil, nil),
		loud:    prometheus.NewDesc("athir_output_level_dbfs", "Level of the last second of the station's output.", nil, nil),
	}
}

func (m *guardMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.alarms, m.seconds, m.steps, m.up, m.loud, m.short} {
		ch <- d
	}
}

func (m *guardMetrics) Collect(ch chan<- prometheus.Metric) {
	status, totals := m.guard.Status(), m.guard.Totals()
	for _, k := range deadair.Kinds() {
		ch <- prometheus.MustNewConstMetric(m.alarms, prometheus.CounterValue, float64(totals.Alarms[k]), string(k))
	}
	ch <- prometheus.MustNewConstMetric(m.seconds, prometheus.CounterValue, totals.Dead.Seconds())
	for _, s := range deadair.Steps() {
		ch <- prometheus.MustNewConstMetric(m.steps, prometheus.CounterValue, float64(totals.Steps[s]), string(s))
	}
	for _, s := range deadair.States() {
		ch <- prometheus.MustNewConstMetric(m.up, prometheus.GaugeValue, one(status.State == s.String()), s.String())
	}
	ch <- prometheus.MustNewConstMetric(m.short, prometheus.GaugeValue, one(status.Short))
	ch <- prometheus.MustNewConstMetric(m.loud, prometheus.GaugeValue, status.Level)
}
