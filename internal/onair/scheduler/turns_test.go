package scheduler_test

import (
	"context"
	"database/sql"
	"os"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/onair/scheduler"
)

type turn struct {
	Path  string
	Round int
	At    int64
}

func (r *rig) turns() []turn {
	r.t.Helper()
	db := r.database()
	defer db.Close() //nolint:errcheck // only read
	rows, err := db.Read().QueryContext(context.Background(), `SELECT path, round, at FROM turns ORDER BY path`)
	if err != nil {
		r.t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var out []turn
	for rows.Next() {
		var t turn
		if err := rows.Scan(&t.Path, &t.Round, &t.At); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, t)
	}
	if err := rows.Err(); err != nil {
		r.t.Fatal(err)
	}
	return out
}

// database opens the rig's file beside the scheduler.
func (r *rig) database() *store.DB {
	r.t.Helper()
	db, err := store.Open(context.Background(), r.file)
	if err != nil {
		r.t.Fatal(err)
	}
	return db
}

func (r *rig) exec(query string, args ...any) {
	r.t.Helper()
	db := r.database()
	defer db.Close() //nolint:errcheck // the write was committed
	err := db.Write(context.Background(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(context.Background(), query, args...)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// A database of before turns were kept gives them from its plays.
func TestTurnsAreFilledFromThePlaysOfAnOlderDatabase(t *testing.T) {
	r := &rig{t: t, file: t.TempDir() + "/athir.db"}
	first, err := os.ReadFile("migrations/0001_onair.sql")
	if err != nil {
		t.Fatal(err)
	}
	db := r.database()
	if err := db.Migrate(t.Context(), "onair", fstest.MapFS{"0001_onair.sql": {Data: first}}); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	now := time.Now()
	path := songs(9)[1].Path // no UTF-8
	for i, p := range []string{path, "a.mp3", path} {
		r.exec(`INSERT INTO plays (at, engine, seq, path, artist, title, category, round) VALUES (?, 'e', ?, ?, '', '', 'english', ?)`,
			now.Add(time.Duration(i)*time.Minute-time.Hour).UnixMilli(), i, p, i+3)
	}
	rig := newRigAt(t, r.file)
	want := []turn{{"a.mp3", 4, now.Add(-59 * time.Minute).UnixMilli()}, {path, 5, now.Add(-58 * time.Minute).UnixMilli()}}
	if diff := cmp.Diff(want, rig.turns()); diff != "" {
		t.Error(diff)
	}
}

// newRigAt opens a database that is there already.
func newRigAt(t *testing.T, file string) *rig {
	r := newRig(t, &node{}, newShelf(songs(60)))
	r.stop()
	r.file = file
	r.open()
	return r
}

// Turns stay when plays have gone after 72 hours, over restarts too; those of
// tracks that left the library go after 400 days.
func TestTurnsOutliveTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shift atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }
		later := func(d time.Duration) { shift.Store(int64(d)) }
		r := newRigWith(t, &node{}, newShelf(songs(60)), func(o *scheduler.Options) {
			o.Now = now
		})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		play := func(seq uint64, path string) {
			if _, err := r.Completed(t.Context(), scheduler.Marker{Engine: "e", Seq: seq, File: root + path, Kind: scheduler.Rotation}); err != nil {
				t.Fatal(err)
			}
		}
		path := r.View().Rotation.Entries[0].Track.Path
		const left = "left the library.mp3" // in no rotation: each play is a turn more
		play(1, path)
		play(2, left)
		play(2, left) // the same marker again is none
		if got := r.turns(); len(got) != 2 || got[0].Path != left || got[0].Round != 1 || got[1].Path != path || got[1].Round < 1 {
			t.Fatalf("%+v", got)
		}
		later(80 * time.Hour)
		play(3, left)
		if got := r.turns()[0]; got.Round != 2 || got.At != now().UnixMilli() {
			t.Errorf("after 80 hours: %+v", got)
		}
		kept := r.turns()
		r.stop()
		r.open()
		if diff := cmp.Diff(kept, r.turns()); diff != "" {
			t.Errorf("over a restart: %s", diff)
		}
		// A turn goes on where it was, though the plays are forgotten.
		later(300 * time.Hour)
		play(4, left)
		if got := r.turns()[0].Round; got != 3 {
			t.Errorf("round %d", got)
		}
		later(420 * 24 * time.Hour)
		time.Sleep(2 * time.Minute) // the watchdog
		synctest.Wait()
		if got := r.turns(); len(got) != 1 || got[0].Path != path {
			t.Errorf("after 400 days: %+v", got)
		}
		r.stop()
	})
}
