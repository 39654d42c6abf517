package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // reads the station's database

	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/test/aircheck"
)

// reloads counts the lists that were committed, and how often the engine has
// read one, at a moment when each that was written is both: the newest has begun
// to air, and no other is near.
func (s *station) reloads() (lists, reads int) {
	s.t.Helper()
	engine := playout.Client{Socket: playout.Options{Dir: filepath.Join(s.data, "node")}.Socket()}
	s.eventually("the first half of a list", func() bool {
		all, consumed, err := s.rotation()
		if err != nil || consumed < 1 || consumed > len(all)/2 {
			return false
		}
		lists = s.logged("rotation rebuilt")
		st, err := engine.Status(s.t.Context())
		reads = st.Edition
		return err == nil && s.logged("rotation rebuilt") == lists
	})
	return lists, reads
}

// committed is one rotation as the station showed it.
type committed struct {
	entries []entry
	seen    time.Time
}

// follow records every rotation that is committed, from now until the returned
// function is called.
func (s *station) follow() func() []committed {
	ctx, cancel := context.WithCancel(context.Background())
	out := make(chan []committed, 1)
	go func() {
		var all []committed
		var last string
		for over := false; !over; {
			over = ctx.Err() != nil // one more look: what was heard last may be of a list that is newer than the look before
			if now, _, err := s.rotation(); err == nil && len(now) > 0 {
				if id := fmt.Sprint(files(now)); id != last {
					all, last = append(all, committed{now, time.Now()}), id
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
		out <- all
	}()
	s.t.Cleanup(cancel)
	return func() []committed { cancel(); return <-out }
}

func files(entries []entry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.File
	}
	return out
}

// played is one row of the as-run log.
type played struct {
	at   time.Time
	tone int
	file string
}

// database opens the station's database to be read.
func (s *station) database() *sql.DB {
	s.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.data, "athir.db")+"?mode=ro")
	if err != nil {
		s.t.Fatal(err)
	}
	return db
}

// keptVotes is the sum of a file's votes that are on disk.
func (s *station) keptVotes(file string) (sum int) {
	s.t.Helper()
	db := s.database()
	defer db.Close() //nolint:errcheck // only read
	err := db.QueryRowContext(s.t.Context(), `SELECT coalesce(sum(delta), 0) FROM votes WHERE path = ?`, []byte(file)).Scan(&sum)
	if err != nil {
		s.t.Fatal(err)
	}
	return sum
}

// plays reads the as-run log from the station's database.
func (s *station) plays() (out []played) {
	s.t.Helper()
	db := s.database()
	defer db.Close() //nolint:errcheck // only read
	rows, err := db.QueryContext(s.t.Context(), `SELECT at, path FROM plays ORDER BY id`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var at int64
		var path string
		if err := rows.Scan(&at, &path); err != nil {
			s.t.Fatal(err)
		}
		out = append(out, played{time.UnixMilli(at), toneOf(path), path})
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// airing is one entry as it was heard.
type airing struct {
	aircheck.Segment
	entry
	rotation, position int
	at                 time.Time // by the clock, as the engine told
}

// explain finds the one way in which what was heard is committed rotations in
// their order, each from its head without a hole up to where the next one took
// over; the first may have begun before. Where there is none it returns nil and
// how far it came.
func explain(segments []aircheck.Segment, rotations []committed, unseen int) (heard []airing, lost int) {
	type state struct{ i, r, at, unseen int }
	dead := map[state]bool{}
	var follow func(state) []airing
	follow = func(s state) []airing {
		lost = max(lost, s.i)
		if s.i == len(segments) {
			return []airing{}
		}
		if dead[s] {
			return nil
		}
		if plan := rotations[s.r].entries; s.at < len(plan) && toneOf(plan[s.at].File) == segments[s.i].ID {
			if rest := follow(state{s.i + 1, s.r, s.at + 1, s.unseen}); rest != nil {
				return append([]airing{{Segment: segments[s.i], entry: plan[s.at], rotation: s.r, position: s.at}}, rest...)
			}
		}
		if s.r+1 < len(rotations) { // one may be replaced before anything of it is heard
			if rest := follow(state{s.i, s.r + 1, 0, s.unseen}); rest != nil {
				return rest
			}
		}
		if s.unseen > 0 {
			if rest := follow(state{s.i + 1, s.r, s.at, s.unseen - 1}); rest != nil {
				return append([]airing{{Segment: segments[s.i], rotation: -1}}, rest...)
			}
		}
		dead[s] = true
		return nil
	}
	for r := range rotations {
		for at := range rotations[r].entries {
			if heard := follow(state{0, r, at, unseen}); heard != nil {
				return heard, len(heard)
			}
		}
	}
	return nil, lost
}

// mustExplain fails where what was heard is not what was committed. unseen is how
// many lists were in place too shortly for the test to read.
func mustExplain(t *testing.T, report aircheck.Report, rotations []committed, unseen int) []airing {
	t.Helper()
	if len(report.Segments) == 0 || len(rotations) == 0 {
		t.Fatalf("heard %d entries, of %d rotations", len(report.Segments), len(rotations))
	}
	heard, lost := explain(report.Segments, rotations, unseen)
	if heard == nil {
		var plan strings.Builder
		for _, r := range rotations {
			fmt.Fprintf(&plan, "\n  %s %v", r.seen.Format(time.TimeOnly), tones(r.entries))
		}
		t.Fatalf("what was heard is no part of what was committed, from entry %d on:\nheard %v\ncommitted%s\n%s",
			lost, report.Order(), &plan, report)
	}
	return heard
}

// asRun holds what was heard against the log of what aired, and takes its times.
// The log knows of entries from before the capture, among them the same tones,
// and not yet of one that began as it was read.
func asRun(t *testing.T, heard []airing, plays []played) {
	t.Helper()
	logged := func(first, i int) bool {
		at := first + i
		return at < len(plays) && plays[at].tone == heard[i].ID || at == len(plays) && i > 0 && i == len(heard)-1
	}
	agree := 0 // of the entries, at best
	for first := range plays {
		n := 0
		for n < len(heard) && logged(first, n) {
			n++
		}
		if n == len(heard) {
			for i := range heard {
				if at := first + i; at < len(plays) {
					heard[i].at = plays[at].at
				} else {
					heard[i].at = heard[i-1].at.Add(heard[i].Start - heard[i-1].Start)
				}
			}
			return
		}
		agree = max(agree, n)
	}
	t.Fatalf("entry %d is heard as tone %d; logged were %v", agree, heard[agree].ID, plays)
}
