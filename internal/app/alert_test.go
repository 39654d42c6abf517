package app

import (
	"database/sql"
	"log/slog"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/onair/guard"
)

// An alarm that was on when the control plane was killed is told as over by the
// next one: it is a state, and nobody else would ever replace it. So it is where
// the guard has been switched off since.
func TestAnAlarmOfAControlPlaneThatDiedIsToldAsOver(t *testing.T) {
	cfg, _, err := config.Load(config.Source{DataDir: t.TempDir()})
	must(t, err)
	db, err := store.Open(t.Context(), cfg.Database())
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	open := func() *deadAir {
		g, err := guard.Open(t.Context(), guard.Options{Log: slog.New(slog.DiscardHandler), DB: db})
		must(t, err)
		return &deadAir{g}
	}
	now := time.Now()
	if a := open().atStart(now); a.State != "cleared" || a.Kind != "" || a.At != now.UnixMilli() {
		t.Errorf("the first start: %+v", a)
	}
	must(t, db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `INSERT INTO guard_alarms (kind, cause, began, raised, heard, cleared, steps) VALUES ('silence', '', 1, 2, 0, 0, '[]')`)
		return err
	}))
	if a := open().atStart(now); a.State != "cleared" || a.Kind != guard.Silence {
		t.Errorf("after an alarm: %+v", a)
	}
	if a := (&deadAir{}).atStart(now); a.State != "cleared" {
		t.Errorf("without a guard: %+v", a)
	}
}
