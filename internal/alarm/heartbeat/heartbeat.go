// Package heartbeat asks for an address once a minute while all is well: a dead man's switch.
// A service elsewhere that expects it tells the operator when it stays away, and so also of
// what the station cannot tell by itself: that its machine or its network is gone.
//
// It sends nothing while the station is not well: silence is the message.
package heartbeat

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/kit/fetch"
)

// Options of a heartbeat. All are required.
type Options struct {
	Log    *slog.Logger
	Sender Sender
	URL    string // a secret
	// Well returns why the station is not well; empty: it is.
	Well func(ctx context.Context) string
}

// Sender is a *fetch.Client.
type Sender interface {
	Send(ctx context.Context, s fetch.Sending) (fetch.Answer, error)
	Check(address string) (*url.URL, error)
}

const (
	every      = time.Minute
	lookEvery  = 5 * time.Second
	lookWithin = 3 * time.Second
	beatWithin = 15 * time.Second
)

// Run beats until ctx ends: at once when the station is well, and then once a minute.
func Run(ctx context.Context, o Options) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var next time.Time
	why, trouble := "", ""
	for {
		look, cancel := context.WithTimeout(ctx, lookWithin)
		ill := o.Well(look)
		cancel()
		if ctx.Err() != nil {
			return nil //nolint:nilerr // told to end
		}
		if ill != why {
			if why = ill; ill != "" {
				o.Log.Warn("heartbeat held back, the station is not well", "why", ill)
			}
		}
		if now := time.Now(); ill == "" && !now.Before(next) {
			next = now.Add(every)
			said := ""
			if err := Beat(ctx, o.Sender, o.URL); err != nil && ctx.Err() == nil {
				said = err.Error()
			}
			if said != "" && said != trouble {
				o.Log.Warn("heartbeat not taken", "err", said)
			}
			trouble = said
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Beat asks for the address once. The error is a *alarm.Failure.
func Beat(ctx context.Context, sender Sender, address string) error {
	got, err := sender.Send(ctx, fetch.Sending{URL: address, Method: http.MethodGet, Limit: 1 << 10, Timeout: beatWithin})
	if err != nil {
		return alarm.Unsent(err, address, sender.Check)
	}
	if got.Status/100 == 2 {
		return nil
	}
	f := &alarm.Failure{Why: fmt.Sprintf("the service answered %d %s", got.Status, http.StatusText(got.Status)), Lasting: got.Status < http.StatusInternalServerError}
	switch got.Status / 100 {
	case 3:
		f.Remedy = "alarms.heartbeat.url leads elsewhere: write the address that it leads to"
	case 4:
		f.Remedy = "check alarms.heartbeat.url: the service does not know it"
	}
	return f
}
