package app

import (
	"context"
	"time"

	"github.com/athir-radio/athir/internal/kit/shed"
	"github.com/athir-radio/athir/internal/kit/strain"
	"github.com/athir-radio/athir/internal/node/output"
	"github.com/athir-radio/athir/internal/node/supervise"
)

// shortEvery is how often it is asked whether work must be held up.
const shortEvery = time.Second

// shedding holds production up while this machine, or a broadcast node on it, is short of
// something; until ctx ends. A node elsewhere gains nothing by that.
func shedding(ctx context.Context, gate *shed.Gate, node func(ctx context.Context) (output.Report, error)) error {
	gauge := strain.New()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = gauge.Run(ctx)
	}()
	defer func() { <-done }()
	clock := time.NewTicker(shortEvery)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			gate.Close()
			return nil
		case <-clock.C:
		}
		why := gauge.Read().Short()
		if node != nil && why == "" {
			if told, err := node(ctx); err == nil {
				why = lacking(told)
			}
		}
		if why != "" {
			gate.Pause(why)
		}
	}
}

// lacking returns what the programs of a node lack, in words; empty: nothing.
func lacking(r output.Report) string {
	for _, p := range r.Programs {
		if p.Condition == supervise.Starved {
			return p.Name + ": " + p.Why
		}
	}
	return r.Short
}
