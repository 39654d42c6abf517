package api

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// newMetrics makes a registry whose values are read when they are asked for.
func (s *Server) newMetrics() http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	gauge := func(name, help string, value func() float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "athir", Name: name, Help: help}, value))
	}
	count := func(name, help string, value func() float64) {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "athir", Name: name, Help: help}, value))
	}
	gauge("track_age_seconds", "Time since the last track marker.", func() float64 {
		at := s.opt.Air().OnAir.StartedAt
		if at.IsZero() {
			return 0
		}
		return time.Since(at).Seconds()
	})
	gauge("rotation_entries", "Length of the rotation on air.", func() float64 { return float64(len(s.opt.Air().Rotation.Entries)) })
	gauge("rotation_consumed", "Entries of it that were heard or passed over.", func() float64 { return float64(s.opt.Air().Consumed) })
	gauge("library_tracks", "Playable tracks.", func() float64 { return float64(len(s.opt.Library().Tracks)) })
	gauge("library_quarantined", "Files that cannot be aired.", func() float64 { return float64(len(s.opt.Library().Quarantined)) })
	gauge("listeners_hls", "HLS sessions.", func() float64 { return float64(s.opt.Count().Listeners) })
	gauge("listeners_stream", "Listeners of /stream.", func() float64 { return float64(s.opt.Stream.Listeners()) })
	count("stream_bytes_total", "Audio bytes sent by /stream.", func() float64 { return float64(s.opt.Stream.BytesOut()) })
	if s.opt.DeadAir != nil {
		reg.MustRegister(newGuardMetrics(s.opt.DeadAir))
	}
	reg.MustRegister(&nodeMetrics{
		node: s.opt.Node, air: s.opt.Air,
		onAir:    prometheus.NewDesc("athir_on_air", "1 while something is on air and the programs to the listeners run.", nil, nil),
		up:       prometheus.NewDesc("athir_program_up", "1 while the program runs.", []string{"program"}, nil),
		restarts: prometheus.NewDesc("athir_program_restarts_total", "Restarts since the node started.", []string{"program"}, nil),
	})
	return promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
}

// nodeMetrics asks the node once per scrape.
type nodeMetrics struct {
	node                func(context.Context) (Node, error)
	air                 func() *scheduler.View
	onAir, up, restarts *prometheus.Desc
}

func (m *nodeMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.onAir
	ch <- m.up
	ch <- m.restarts
}

func (m *nodeMetrics) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	node, _ := m.node(ctx) // one that is away has no programs to show
	on := node.Sounding && !m.air().OnAir.StartedAt.IsZero()
	ch <- prometheus.MustNewConstMetric(m.onAir, prometheus.GaugeValue, one(on))
	for _, p := range node.Programs {
		ch <- prometheus.MustNewConstMetric(m.up, prometheus.GaugeValue, one(p.State == "running"), p.Name)
		ch <- prometheus.MustNewConstMetric(m.restarts, prometheus.CounterValue, float64(p.Restarts), p.Name)
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
