package onbackup_test

import (
	"testing"

	"github.com/athir-radio/athir/internal/app/onbackup"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// The version before finds the database as it left it, where the newer one that was not well
// had migrated it. Without a copy of just before, nothing is touched.
func TestAnUpgradeThatGoesBackTakesItsMigrationBack(t *testing.T) {
	for _, c := range []struct {
		what   string
		copied onbackup.Why
		back   bool
	}{
		{"a copy of before the migration", onbackup.BeforeMigration, true},
		{"a copy by the clock, which may be old", onbackup.Scheduled, false},
	} {
		cfg := station(t)
		log, _ := testkit.Log(t)
		_, err := onbackup.Make(t.Context(), onbackup.Options{Config: cfg, Why: c.copied, Choice: onbackup.Choice{DatabaseOnly: true}})
		must(t, err)
		before := said(t, cfg.DataDir)
		db, err := store.Open(t.Context(), cfg.Database())
		must(t, err)
		must(t, sqlIn(db, `INSERT INTO migrations_chat (version_id, is_applied) VALUES (99, 1)`))
		must(t, sqlIn(db, `DELETE FROM said`))
		newer := onbackup.CopyFirst(t.Context(), cfg, log, "test", db)
		must(t, db.Close())
		f, waits := onbackup.FaultOf(cfg, newer)
		if !waits {
			t.Fatalf("%v is no reason to wait", newer)
		}
		if err := f.GoBack(t.Context(), log); (err == nil) != c.back {
			t.Errorf("%s: %v", c.what, err)
		}
		db, err = store.Open(t.Context(), cfg.Database())
		must(t, err)
		err = onbackup.CopyFirst(t.Context(), cfg, log, "test", db)
		must(t, db.Close())
		if (err == nil) != c.back {
			t.Errorf("%s: the database is opened with %v", c.what, err)
		}
		if now := said(t, cfg.DataDir); c.back != (len(now) == len(before)) {
			t.Errorf("%s: the database says %v, before %v", c.what, now, before)
		}
	}
}
