package app

import (
	"context"
	"time"

	"github.com/athir-radio/athir/internal/kit/shed"
	"github.com/athir-radio/athir/internal/kit/strain"
)

// shortEvery is how often it is asked whether work must be held up.
const shortEvery = time.Second

// shedding holds production up while this machine, or a broadcast node on it, is short of
// something; until ctx ends. A node elsewhere gains nothing by that.
func shedding(ctx context.Context, gate *shed.Gate, node func(ctx context.Context) (nodeReport, error)) error {
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
				why = told.lacking()
			}
		}
		if why != "" {
			gate.Pause(why)
		}
	}
}
