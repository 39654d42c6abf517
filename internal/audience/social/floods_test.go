package social_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

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
