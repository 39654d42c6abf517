package feedback_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

// poll is what the votes should be: what each listener said last of each track.
type poll map[string]map[feedback.Client]int

func (p poll) sums() map[string]int {
	out := map[string]int{}
	for path, votes := range p {
		for _, delta := range votes {
			if out[path] += delta; out[path] == 0 {
				delete(out, path)
			}
		}
	}
	return out
}

// full says that no place is left for one more listener of an address.
func (p poll) full(path string, from feedback.Client) bool {
	if p[path][from] != 0 || from.Address == "" {
		return false
	}
	address, wider := 0, 0
	for other, delta := range p[path] {
		if delta == 0 {
			continue
		}
		if other.Address == from.Address {
			address++
		}
		if wide := client.Wider(from.Address); wide != "" && client.Wider(other.Address) == wide {
			wider++
		}
	}
	return address >= 16 || wider >= 128
}

// Listeners of shared and of other addresses, with devices and without, who vote,
// change their minds and take it back, over restarts: the sum is always that of
// what each said last, and only who has no place any more is refused.
func TestVotesAreTheSumOfWhatEachListenerSaidLast(t *testing.T) {
	s := newStudio(t)
	v, want, rng := s.open(t), poll{"a.mp3": {}, "d.mp3": {}}, rand.New(rand.NewPCG(7, 1))
	refused := 0
	for i := range 700 {
		s.later(time.Minute) // no limit on how often
		from := feedback.Client{Address: []string{"198.51.100.7", "198.51.100.7", "203.0.113.9", "2001:db8:1:1::/64", ""}[rng.IntN(5)]}
		if rng.IntN(8) > 0 {
			from.Device = fmt.Sprint("device-", rng.IntN(40)) // the same id may come from elsewhere
		}
		path, delta := []string{"a.mp3", "d.mp3"}[rng.IntN(2)], []int{1, 1, 1, -1, -1, 0}[rng.IntN(6)]
		full := delta != 0 && want.full(path, from)
		err := v.Cast(t.Context(), from, path, delta)
		switch {
		case full && errors.Is(err, station.ErrConflict):
			refused++
		case full || err != nil:
			t.Fatalf("vote %d, no place %v: %v", i, full, err)
		default:
			want[path][from] = delta
		}
		if same(t, v, want.sums()); t.Failed() {
			t.Fatalf("after vote %d: %v %q %d", i, from, path, delta)
		}
		if i%200 == 0 {
			v = s.open(t)
		}
	}
	if refused < 20 {
		t.Errorf("%d were refused: the test shows little", refused)
	}
	rows, err := s.db.Read().QueryContext(t.Context(), `SELECT voter, coalesce(address, voter), coalesce(wider, voter) FROM votes`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var voter, address, wider []byte
		if err := rows.Scan(&voter, &address, &wider); err != nil || len(voter) != 16 || len(address) != 16 || len(wider) != 16 {
			t.Errorf("a row tells who: %q %q %q, %v", voter, address, wider, err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
}

// Whoever makes up devices has the places of an address, and whoever has many
// networks eight times as many; neighbours elsewhere and other tracks are not
// concerned, and a place that is given up is free.
func TestMadeUpDevicesHaveThePlacesOfAnAddress(t *testing.T) {
	s := newStudio(t)
	v := s.open(t)
	vote := func(network, device int, path string, delta int) error {
		s.later(time.Minute)
		from := feedback.Client{Address: fmt.Sprintf("2001:db8:7:%x::/64", network), Device: fmt.Sprint("device-", device)}
		return v.Cast(t.Context(), from, path, delta)
	}
	accepted := func(network, path string, n int) {
		t.Helper()
		if got := v.Counts()[path]; got != n {
			t.Errorf("%s: %d votes on %s, want %d", network, got, path, n)
		}
	}
	for device := range 40 {
		if err := vote(0, device, "a.mp3", 1); (err == nil) != (device < 16) || err != nil && !errors.Is(err, station.ErrConflict) {
			t.Fatalf("device %d: %v", device, err)
		}
	}
	accepted("one network", "a.mp3", 16)
	for network := 1; network < 12; network++ {
		for device := range 18 {
			_ = vote(network, device, "a.mp3", 1)
		}
	}
	accepted("all of a site", "a.mp3", 128)
	if err := vote(9, 1, "a.mp3", 1); !errors.Is(err, station.ErrConflict) {
		t.Errorf("one more network of the site: %v", err)
	}
	for _, err := range []error{
		vote(0, 3, "a.mp3", 0), vote(9, 1, "a.mp3", 1), // the place is free
		vote(0, 4, "a.mp3", -1), vote(9, 1, "d.mp3", 1),
		v.Cast(t.Context(), feedback.Client{Address: "2001:db8:8::/64", Device: "device-1"}, "a.mp3", 1),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	accepted("in the end", "a.mp3", 127)
	if err := vote(0, 3, "a.mp3", 1); !errors.Is(err, station.ErrConflict) {
		t.Errorf("who gave up its place: %v", err)
	}
	// A proxy on this machine that does not say for whom it asks.
	for device := range 200 {
		if err := v.Cast(t.Context(), feedback.Client{Device: fmt.Sprint("device-", device)}, "e.mp3", 1); err != nil {
			t.Fatal(err)
		}
	}
	accepted("this machine", "e.mp3", 200)
}

// Votes of a database from before devices were told apart count on: until the
// track airs, or the address says something else, with a device or without.
func TestVotesFromBeforeDevicesWereToldApartCountOn(t *testing.T) {
	s := newStudio(t)
	before := fstest.MapFS{}
	for _, name := range []string{"0001_votes.sql", "0002_reactions.sql"} {
		text, err := os.ReadFile("migrations/" + name)
		if err != nil {
			t.Fatal(err)
		}
		before[name] = &fstest.MapFile{Data: text}
	}
	if err := s.db.Migrate(t.Context(), "feedback", before); err != nil {
		t.Fatal(err)
	}
	var salt []byte
	if err := s.db.Read().QueryRow(`SELECT salt FROM votes_state`).Scan(&salt); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"x", "y", "z", ""} {
		hash := hmac.New(sha256.New, salt)
		hash.Write([]byte(address))
		if err := s.db.Write(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.Exec(`INSERT INTO votes (path, voter, delta, at) VALUES (CAST('a.mp3' AS BLOB), ?, 1, ?)`, hash.Sum(nil)[:16], s.clock().UnixMilli())
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	v := s.open(t)
	same(t, v, map[string]int{"a.mp3": 4})
	for _, c := range []struct {
		from  feedback.Client
		delta int
		want  int
	}{
		{at("x"), 1, 4}, // the same as it said before
		{at("x"), -1, 2},
		{feedback.Client{Address: "x", Device: "device-1"}, 1, 3},  // whose vote it is, is known now
		{feedback.Client{Address: "y", Device: "device-1"}, -1, 1}, // takes the place of what y said
		{feedback.Client{Address: "y", Device: "device-2"}, -1, 0},
		{feedback.Client{Address: "z", Device: "device-3"}, 0, -1}, // takes it back
		{feedback.Client{Device: "device-3"}, 1, 0},                // this machine is many
	} {
		if err := v.Cast(t.Context(), c.from, "a.mp3", c.delta); err != nil {
			t.Fatal(err)
		}
		if got := v.Counts()["a.mp3"]; got != c.want {
			t.Errorf("%v votes %d: %d, want %d", c.from, c.delta, got, c.want)
		}
	}
	same(t, s.open(t), v.Counts())
}
