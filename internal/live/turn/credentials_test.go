package turn

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/station"
)

// The vector of the documentation, made with another language's libraries.
func TestCredentialsAreDerivedAsDocumented(t *testing.T) {
	username, password, expires := Credentials(north, "sara", time.Date(2026, 3, 1, 10, 0, 0, 999, time.UTC))
	if username != "1772380800:sara" || password != "dP2uXeHAVZRrFVaE4jKjf5O5oxw=" || !expires.Equal(time.Date(2026, 3, 1, 16, 0, 0, 0, time.UTC)) {
		t.Errorf("%q %q %s", username, password, expires)
	}
	if got := epochOf(expires); got != 41026 {
		t.Errorf("epoch %d", got)
	}
}

// moments draws times about turns of the secret as often as others.
func moments() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "at a turn") {
			epoch := rapid.Int64Range(0, 100_000).Draw(t, "epoch")
			return time.Unix(epoch*43200+rapid.Int64Range(-2, 2).Draw(t, "off")+7*3600, 0)
		}
		return time.Unix(rapid.Int64Range(7*3600, 1<<33).Draw(t, "at"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
	})
}

// A credential is good for six hours, not a second more, whatever turns meanwhile; after
// its expiry it keeps what it opened for twelve.
func TestACredentialIsGoodForItsSixHours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		issued := moments().Draw(t, "issued")
		username, password, expires := Credentials(north, "sara", issued)
		for _, c := range []struct {
			after      time.Duration
			open, keep bool
		}{
			{-skew - time.Second, false, false}, {-skew + time.Second, true, true}, {0, true, true},
			{time.Duration(rapid.Int64Range(0, int64(Lifetime)-1).Draw(t, "within")), true, true},
			{Lifetime - 1, true, true}, {Lifetime, false, true}, {Lifetime + Grace - 1, false, true}, {Lifetime + Grace, false, false},
			{time.Duration(rapid.Int64Range(int64(Lifetime+Grace), math.MaxInt64/4).Draw(t, "later")), false, false},
		} {
			now := issued.Truncate(time.Second).Add(c.after)
			got, err := Check(north, username, now)
			if (err == nil) != c.open || (err == nil && got != password) || (err != nil && !errors.Is(err, station.ErrForbidden)) {
				t.Errorf("issued %s, after %s: %q, %v", issued, c.after, got, err)
			}
			if mayKeep(expires, now) != c.keep {
				t.Errorf("issued %s, after %s: kept %v", issued, c.after, !c.keep)
			}
		}
	})
}

// At any time the credentials that are good come from two secrets at most, the newest and
// the one before, and one older than six hours is never good.
func TestTwoSecretsAreGoodAtATurnAndNoneOlder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := moments().Draw(t, "now")
		newest := now.Unix() / 43200
		for range 50 {
			age := time.Duration(rapid.Int64Range(0, int64(3*Rotation)).Draw(t, "age"))
			username, _, expires := Credentials(north, "sara", now.Add(-age))
			_, err := Check(north, username, now)
			epoch := epochOf(expires)
			if err == nil && epoch != newest && epoch != newest-1 {
				t.Errorf("at %s a credential of epoch %d is good, the newest is %d", now, epoch, newest)
			}
			if good := age < Lifetime-time.Second; good != (err == nil) && (good || age >= Lifetime) {
				t.Errorf("at %s one of age %s: %v", now, age, err)
			}
		}
	})
}

// Another secret, epoch, name or expiry has another password.
func TestPasswordsShareNothing(t *testing.T) {
	seen := map[string]string{}
	for _, secret := range []string{"north", "south", ""} {
		for _, name := range []string{"sara", "omar"} {
			for hour := range 30 {
				username, password, expires := Credentials([]byte(secret), name, noon.Add(time.Duration(hour)*time.Hour))
				what := fmt.Sprintf("%s %s", secret, username)
				if other, ok := seen[password]; ok {
					t.Errorf("%s has the password of %s", what, other)
				}
				seen[password] = what
				if stale := sign(epochKey([]byte(secret), epochOf(expires)-1), username); stale == password {
					t.Errorf("%s: the epoch does not count", what)
				}
			}
		}
	}
}

func TestMalformedUserNamesAreRefused(t *testing.T) {
	good, _, _ := Credentials(north, "sara", noon)
	if _, err := Check(north, good, noon); err != nil {
		t.Fatal(err)
	}
	digits, _, _ := strings.Cut(good, ":")
	for _, username := range []string{
		"", ":", "sara", digits, digits + ":", ":sara", "sara:" + digits, " " + good, good + " ", good + "\n", "+" + good, "0" + good,
		"-" + good, digits + ".0:sara", "0x" + good, digits + ":sa:ra", digits + ":sa ra", digits + ":" + strings.Repeat("x", 65),
		digits + ":سارة", digits + ":\x00", "9223372036854775807:sara", "9223372036854775808:sara", "-9223372036854775808:sara",
		"253402300799:sara", "253402300800:sara", "1e9:sara", "١٧٧٢:sara", "0:sara", "NaN:sara", digits + "\x00:sara",
	} {
		if password, err := Check(north, username, noon); !errors.Is(err, station.ErrForbidden) || password != "" {
			t.Errorf("%q: %q, %v", username, password, err)
		}
	}
}

func TestNamesAreMadePlain(t *testing.T) {
	for name, want := range map[string]string{
		"sara": "sara", "": "_", "a:b": "a_b", "sa ra\n": "sa_ra_", "سارة": "____", "a.b-c_D9": "a.b-c_D9", "\xff": "_",
		strings.Repeat("é", 60): strings.Repeat("_", 32),
	} {
		username, _, _ := Credentials(north, name, noon)
		if _, got, _ := strings.Cut(username, ":"); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
		if _, err := Check(north, username, noon); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Whatever a client sends as its user name: no panic, nothing is good but what Credentials
// writes, and that is read back.
func FuzzCheck(f *testing.F) {
	good, _, _ := Credentials(north, "sara", noon)
	for _, seed := range []string{good, "", ":", "1:a", "-1:a", "99999999999999999999:a", good + "\x00"} {
		f.Add(seed, noon.Unix())
	}
	f.Fuzz(func(t *testing.T, username string, at int64) {
		now := time.Unix(at%(1<<40), 0)
		password, err := Check(north, username, now)
		if err != nil {
			return
		}
		u, err := parseUser(username)
		if err != nil {
			t.Fatal(err)
		}
		again, same, _ := Credentials(north, u.name, u.expires.Add(-Lifetime))
		if again != username || same != password {
			t.Errorf("%q was not written by Credentials: that has %q", username, again)
		}
		if raw, err := base64.StdEncoding.DecodeString(password); err != nil || len(raw) != 20 {
			t.Errorf("%q", password)
		}
	})
}
