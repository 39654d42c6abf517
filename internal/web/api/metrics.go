package api

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
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
	gauge("on_air", "1 while something is on air and the programs to the listeners run.", func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if s.opt.Air().OnAir.StartedAt.IsZero() || !s.opt.Sounding(ctx) {
			return 0
		}
		return 1
	})
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
	reg.MustRegister(&programMetrics{
		programs: s.opt.Programs,
		up:       prometheus.NewDesc("athir_program_up", "1 while the program runs.", []string{"program"}, nil),
		restarts: prometheus.NewDesc("athir_program_restarts_total", "Restarts since the node started.", []string{"program"}, nil),
	})
	return promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
}

// programMetrics asks the node once per scrape.
type programMetrics struct {
	programs     func(context.Context) ([]Process, error)
	up, restarts *prometheus.Desc
}

func (p *programMetrics) Describe(ch chan<- *prometheus.Desc) { ch <- p.up; ch <- p.restarts }

func (p *programMetrics) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	programs, _ := p.programs(ctx) // a node that is away has no programs to show
	for _, pr := range programs {
		up := 0.0
		if pr.State == "running" {
			up = 1
		}
		ch <- prometheus.MustNewConstMetric(p.up, prometheus.GaugeValue, up, pr.Name)
		ch <- prometheus.MustNewConstMetric(p.restarts, prometheus.CounterValue, float64(pr.Restarts), pr.Name)
	}
}
