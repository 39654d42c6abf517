package social_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/station"
)

// madeUp is a device that somebody has made up, at one of the addresses of a network.
func madeUp(network string, n int) social.Client {
	address := network
	if strings.Contains(network, "%") {
		address = fmt.Sprintf(network, n)
	}
	return social.Client{Address: address, Device: fmt.Sprintf("made-up-%06d", n)}
}

const (
	oneAddress = "203.0.113.1"
	oneSite    = "2001:db8:1:%x::/64"
)

// Devices of one address, and addresses of one network, add so many rows and no more.
func TestReactionsAndReportsOfOneNetworkAreBounded(t *testing.T) {
	r := open(t, func(o *social.Options) { o.Reports = 0 })
	for _, c := range []struct {
		network string
		most    int
	}{{oneAddress, 16}, {oneSite, 128}} {
		id := r.planted(t, 1, "x")
		for what, do := range map[string]func(social.Client) error{
			"react":  func(c social.Client) error { _, err := r.React(t.Context(), c, id, "love", true); return err },
			"report": func(c social.Client) error { return r.Report(t.Context(), c, id, "spam", "") },
		} {
			for n := range c.most {
				if err := do(madeUp(c.network, n)); err != nil {
					t.Fatalf("%s of %s, %d: %v", what, c.network, n, err)
				}
			}
			if err := do(madeUp(c.network, c.most)); !errors.Is(err, station.ErrConflict) {
				t.Errorf("%s of %s, one too many: %v", what, c.network, err)
			}
			if err := do(madeUp(c.network, 0)); err != nil {
				t.Errorf("%s of %s, once more: %v", what, c.network, err)
			}
		}
	}
}

// Who owns a network owns all its addresses: three of them take nothing off the air. What a
// moderator has judged is not reported anew by the same network.
func TestOneNetworkIsOneReport(t *testing.T) {
	r := open(t, nil)
	id := r.planted(t, 1, "x")
	report := func(c social.Client) social.Status {
		t.Helper()
		if err := r.Report(t.Context(), c, id, "spam", ""); err != nil {
			t.Fatal(err)
		}
		return r.get(t, id).Status
	}
	for n := range 5 {
		if report(madeUp(oneSite, n)) != social.Approved || report(madeUp("198.51.100.%d", n)) != social.Approved {
			t.Fatal("two networks pulled it back")
		}
	}
	if got := report(listener(7)); got != social.Pending {
		t.Fatalf("three networks: %s", got)
	}
	for range 2 {
		if err := r.Decide(t.Context(), id, social.Verdict{Op: social.OpApprove}); err != nil {
			t.Fatal(err)
		}
		for n := 5; n < 8; n++ {
			again := listener(7)
			again.Device = fmt.Sprintf("made-up-%06d", n)
			if report(madeUp(oneSite, n)) != social.Approved || report(madeUp("198.51.100.%d", n)) != social.Approved || report(again) != social.Approved {
				t.Fatal("judged reports count again, by other devices of the same networks")
			}
		}
	}
	if report(listener(8)) != social.Approved || report(listener(9)) != social.Approved || report(listener(10)) != social.Pending {
		t.Error("three other networks do not pull it back")
	}
}

// A network with many addresses does not fill the memory of who is known, which would make
// newcomers of all others.
func TestOneNetworkDoesNotFillTheMemoryOfVoters(t *testing.T) {
	r := open(t, nil)
	for n := range 600 {
		if err := r.Met(t.Context(), madeUp(oneSite, n)); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 70 {
		if err := r.Met(t.Context(), madeUp(oneAddress, n)); err != nil {
			t.Fatal(err)
		}
	}
	var met int
	if err := r.opt.DB.Read().QueryRowContext(t.Context(), `SELECT count(*) FROM social_voters`).Scan(&met); err != nil || met != 512+64 {
		t.Errorf("%d are remembered, want 512 of the network and 64 of the address: %v", met, err)
	}
}

// The memory of voters is bounded, and what was wrongly counted into it is not for long.
func TestAFullMemoryOfVotersTakesNoMore(t *testing.T) {
	r := open(t, nil)
	remembered := func(want int) {
		t.Helper()
		var met int
		if err := r.opt.DB.Read().QueryRowContext(t.Context(), `SELECT count(*) FROM social_voters`).Scan(&met); err != nil || met != want {
			t.Errorf("%d are remembered, want %d: %v", met, want, err)
		}
	}
	r.FillVoters()
	if err := r.Met(t.Context(), listener(1)); err != nil {
		t.Fatal(err)
	}
	remembered(0)
	if err := r.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Met(t.Context(), listener(1)); err != nil {
		t.Fatal(err)
	}
	remembered(1)
}

// Each appeal is kept and told to moderators, so there are few; the same words again are one.
func TestAPostIsAppealedAFewTimes(t *testing.T) {
	r := open(t, nil)
	id := r.planted(t, 1, "x")
	if err := r.Decide(t.Context(), id, social.Verdict{Op: social.OpReject, Code: "quality"}); err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		for range 3 {
			if err := r.Appeal(t.Context(), id, fmt.Sprint("please ", n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := r.Appeal(t.Context(), id, "once more"); !errors.Is(err, station.ErrConflict) {
		t.Errorf("a sixth: %v", err)
	}
	if err := r.Appeal(t.Context(), id, "please 4"); err != nil {
		t.Errorf("the last once more: %v", err)
	}
	lines, err := r.History(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	appeals := 0
	for _, l := range lines {
		if l.Action == "appeal" {
			appeals++
		}
	}
	if appeals != 5 {
		t.Errorf("%d appeals in the history", appeals)
	}
}

// Who has no device and guesses another's Idempotency-Key does not get that one's post, and
// with it the secret to withdraw it.
func TestAKeyWithoutADeviceIsThatOfAnAddress(t *testing.T) {
	r := open(t, nil)
	submit := func(address string) social.Receipt {
		t.Helper()
		d := social.Draft{Type: social.Voice, Title: "x", Rights: true, Once: "write-00000001", Name: "evil\u202e3pm.\nexe\u200b.mp3"}
		got, err := r.Submit(t.Context(), social.Client{Address: address}, d, "upload", -1, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := submit("203.0.113.1")
	if again := submit("203.0.113.1"); again.ID != first.ID || again.Token != first.Token {
		t.Errorf("repeated: %+v, first %+v", again, first)
	}
	if other := submit("203.0.113.2"); other.ID == first.ID || other.Token == first.Token {
		t.Errorf("another got the receipt of the first: %+v", other)
	}
	if p := r.get(t, first.ID); p.Source.Name != "evil3pm.exe.mp3" {
		t.Errorf("the file is shown as %q", p.Source.Name)
	}
}

// A post that takes the station down with it, again and again, is not tried for ever.
func TestAPostThatEndsTheStationIsGivenUp(t *testing.T) {
	r := open(t, nil)
	sent := r.send(t, 1, social.Draft{Type: social.Voice, Title: "bomb"}, music(t, r.dir, 40, 6))
	address, err := r.SubmitURL(t.Context(), listener(2), social.Draft{Type: social.Voice, Title: "bomb", Rights: true}, "http://example.org/x.mp3")
	if err != nil {
		t.Fatal(err)
	}
	err = r.opt.DB.Write(t.Context(), func(tx *sql.Tx) error { // ten starts that ended with it
		_, err := tx.ExecContext(t.Context(), `UPDATE social_posts SET tries = 10`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r.work(t)
	for _, id := range []int64{sent.ID, address.ID} {
		if p := r.get(t, id); p.Status != social.Failed || p.NextTry != 0 {
			t.Errorf("post %d is %s, next try %d", id, p.Status, p.NextTry)
		}
	}
	if err := r.Decide(t.Context(), sent.ID, social.Verdict{Op: social.OpProcess}); err != nil {
		t.Fatal(err)
	}
	r.work(t)
	if p := r.get(t, sent.ID); p.Status != social.Pending {
		t.Errorf("a moderator's order: %s", p.Status)
	}
}

// What was sent as posts that are decided leaves the disk before its time where there is no
// room for others; what nobody has decided on stays.
func TestDecidedPostsMakeRoom(t *testing.T) {
	var r *rig
	in := func() string { return filepath.Join(r.dir, "social", "incoming") }
	r = open(t, func(o *social.Options) {
		o.Limits.Reserve = 1000
		o.Space = func(string) (free, size uint64, err error) {
			left, _ := os.ReadDir(in())
			return 2200 - 100*uint64(len(left)), 1 << 40, nil //nolint:gosec // few
		}
	})
	var ids []int64
	for n := range 4 {
		got, err := r.Submit(t.Context(), listener(n), social.Draft{Type: social.Voice, Title: "x", Rights: true}, "upload", -1, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, got.ID)
	}
	for _, id := range ids[:3] {
		if err := r.Decide(t.Context(), id, social.Verdict{Op: social.OpReject, Code: "quality"}); err != nil {
			t.Fatal(err)
		}
		r.later(time.Second)
	}
	if err := r.MakeRoom(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(in()); len(left) != 2 {
		t.Errorf("%d files are left", len(left))
	}
	for n, id := range ids[:3] { // the oldest two have nothing left to process
		if err := r.Decide(t.Context(), id, social.Verdict{Op: social.OpProcess}); (n < 2) != errors.Is(err, station.ErrConflict) {
			t.Errorf("post %d: %v", id, err)
		}
	}
}
