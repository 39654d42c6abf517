package people_test

import (
	"context"
	"database/sql"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/people"
)

func TestOrdersAreWrittenBeforeTheyAreCarriedOut(t *testing.T) {
	r := open(t)
	u := r.user("omar", people.Owner)
	c := people.Caller{User: u.ID, Name: u.Name, Way: people.BySession}
	r.Ordered(c, people.Order{Order: "POST /api/station/skip"}) // the program is killed here
	done := r.Ordered(c, people.Order{Order: "PUT /api/station/mood"})
	done(200, `{"mood":"calm"}`)
	r.Ordered(people.Caller{Way: people.ByStationKey}, people.Order{Order: "POST /api/station/play"})(404, "")
	list, err := r.Orders(t.Context(), "", 0, 10)
	if err != nil || len(list) != 3 || list[0].Status != 404 || list[1].Status != 200 || list[2].Status != 0 || list[2].Name != "omar" {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := r.Orders(t.Context(), u.ID, list[1].N, 10); err != nil || len(list) != 1 || list[0].Order != "POST /api/station/skip" {
		t.Errorf("%+v, %v", list, err)
	}
	r.time.pass(366 * 24 * time.Hour)
	if err := r.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list, err := r.Orders(t.Context(), "", 0, 10); err != nil || len(list) != 0 {
		t.Errorf("after a year: %+v, %v", list, err)
	}
}

// Whoever gives many orders does not drive out those of others.
func TestOneUsersOrdersDoNotDriveOutThoseOfOthers(t *testing.T) {
	r := open(t)
	owner, many := people.Caller{User: "owner", Name: "omar"}, people.Caller{User: "many", Name: "sara"}
	r.Ordered(owner, people.Order{Order: "DELETE /api/people/{id}"})(204, "")
	err := r.db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 20500)
			INSERT INTO people_orders (at, user, name, way, order_, target, detail, address, status) SELECT ?, 'many', 'sara', 'session', 'POST /api/station/skip', '', '', '', 200 FROM i`, r.time.now().UnixMilli())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		r.Ordered(many, people.Order{Order: "POST /api/station/play"})
	}
	if err := r.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := r.db.Read().QueryRowContext(t.Context(), `SELECT count(*) FROM people_orders WHERE user = 'many'`).Scan(&left); err != nil || left > 21_000 {
		t.Errorf("%d orders of one user, %v", left, err)
	}
	if list, err := r.Orders(t.Context(), "owner", 0, 10); err != nil || len(list) != 1 {
		t.Errorf("the owner's: %+v, %v", list, err)
	}
}

// While the disk hangs orders go on, and what they were is in the log when it is back.
func TestTheLogCatchesUpAfterADiskThatHung(t *testing.T) {
	r := open(t)
	held, release := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- r.db.Write(context.Background(), func(*sql.Tx) error { close(held); <-release; return nil })
	}()
	<-held
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			r.Ordered(people.Caller{User: "omar", Name: "omar", Way: people.BySession}, people.Order{Order: "POST /api/station/skip"})(200, `{"now":true}`)
		})
	}
	all.Wait()
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	r.Settle(t.Context())
	list, err := r.Orders(t.Context(), "omar", 0, 1000)
	if err != nil || len(list) != 200 {
		t.Fatalf("%d orders in the log, %v", len(list), err)
	}
	for _, o := range list {
		if o.Status != 200 || o.Detail != `{"now":true}` {
			t.Fatalf("an order without its outcome: %+v", o)
		}
	}
	if n := r.lines.Count("level=ERROR"); n > 0 {
		t.Errorf("%d orders are said to be lost", n)
	}
}
