package app

import (
	"context"
	"path/filepath"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/web/api"
)

// Faults of the control plane itself, in words for everybody.
const databaseLost = "the database file was removed or replaced: nothing can be written"

// databaseAlarm is the kind of the alarm for it.
const databaseAlarm guard.Kind = "database"

// faults lists what keeps the control plane from its work; none while all is well.
func (p *plane) faults() []string {
	var out []string
	if p.db.Present() != nil {
		out = append(out, databaseLost)
	}
	if text := p.line.Problem(); text != "" {
		out = append(out, text)
	}
	return out
}

// tellBegan logs that the database there had been is not there any more.
func (p *plane) tellBegan() {
	if !p.db.Began() {
		return
	}
	rescued, _ := filepath.Glob(p.db.Path() + rescuedMark + "*")
	p.log.Error("the database was gone or empty and there had been one: the station starts with an empty one; to have it back, stop the station and put it, or a copy, in its place",
		"file", p.db.Path(), "copies", rescued)
}

// rescuedMark is between the database's name and the time of a copy.
const rescuedMark = ".rescued-"

// watchDatabase raises an alarm while the database's file is lost, and then keeps a copy
// of what is in it, until ctx ends.
func (p *plane) watchDatabase(ctx context.Context) error {
	alarm := p.out.Alerts(func(string, any) {}) // for operators alone
	p.db.Watch(ctx, func(err error) {
		now := time.Now()
		if err == nil {
			p.log.Info("the database file is back in its place")
			alarm(guard.Event, guard.Alert{Kind: databaseAlarm, State: "cleared", Text: "the database file is back in its place", At: now.UnixMilli()})
			return
		}
		p.log.Error("database lost, nothing can be written", "file", p.db.Path(), "err", err)
		alarm(guard.Event, guard.Alert{Kind: databaseAlarm, State: "raised", Text: databaseLost, At: now.UnixMilli()})
		path := p.db.Path() + rescuedMark + strconv.FormatInt(now.Unix(), 10)
		if err := p.db.Rescue(ctx, path); err != nil {
			p.log.Error("cannot keep a copy of the database", "err", err)
			return
		}
		p.log.Warn("a copy of the lost database is kept: to go on with it, stop the station and rename it", "copy", path, "to", p.db.Path())
	})
	return nil
}

// databaseMetrics tell of a lost database.
func databaseMetrics(db *store.DB) []api.Metric {
	return []api.Metric{{
		Name: "database_lost", Help: "1 while the database's file is not in its place and nothing can be written.",
		Read: func(add func(float64, string)) {
			lost := 0.0
			if db.Present() != nil {
				lost = 1
			}
			add(lost, "")
		},
	}}
}
