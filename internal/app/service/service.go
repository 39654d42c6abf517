// Package service tells systemd how a role fares while it runs. It asks a role from
// outside, by the doors that others use: what answers there works.
package service

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
)

// Teller is the service manager.
type Teller interface {
	Ready() error
	Status(text string) error
	Alive() error
}

// Probe asks a role how it fares: one line for people, or an error where it gives no
// answer.
type Probe func(ctx context.Context) (status string, err error)

// Beat is how often a role is asked. A WatchdogSec below three of it would kill a healthy
// one.
const Beat = 10 * time.Second

// patience bounds one question.
const patience = 5 * time.Second

// Run runs a role until it ends, and tells meanwhile:
//
//	ready     once the role has answered for the first time
//	alive     with each answer from then on; a role that is wedged gives none
//	status    where it has changed
//
// What cannot be told is logged once and costs the role nothing. Nothing is told at the
// end: systemd sees it, and a program that another one replaces in the same process does
// not end.
func Run(ctx context.Context, log *slog.Logger, to Teller, probe Probe, run func(context.Context) error) error {
	told, over := context.WithCancel(ctx)
	var telling sync.WaitGroup
	t := teller{to: to, log: log}
	telling.Go(func() { t.tell(told, probe) })
	err := run(ctx)
	over()
	telling.Wait()
	return err
}

type teller struct {
	to   Teller
	log  *slog.Logger
	deaf sync.Once
}

func (t *teller) tell(ctx context.Context, probe Probe) {
	status := ""
	ask := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		now, err := probe(ctx)
		if err == nil && now != status {
			status = now
			t.try(func() error { return t.to.Status(now) })
		}
		return err
	}
	if retry.Until(ctx, ask) != nil {
		return
	}
	t.try(t.to.Ready)
	for {
		t.try(t.to.Alive)
		if retry.Pause(ctx, Beat) != nil {
			return
		}
		for ask(ctx) != nil {
			if retry.Pause(ctx, Beat) != nil {
				return
			}
		}
	}
}

func (t *teller) try(tell func() error) {
	if err := tell(); err != nil {
		t.deaf.Do(func() { t.log.Warn("systemd cannot be told how the service fares", "err", err) })
	}
}
