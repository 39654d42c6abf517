package people_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
)

// What a password costs is in its hash, so that another cost leaves those that are there good.
func TestPasswordsAreKeptAsRecommended(t *testing.T) {
	r := open(t)
	r.cost = people.Cost{}
	r.again()
	r.user("omar", people.Owner)
	var hash string
	if err := r.db.Read().QueryRowContext(t.Context(), `SELECT password FROM people_users`).Scan(&hash); err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=65536,t=3,p=4$") {
		t.Errorf("%q, %v", hash, err)
	}
	r.cost = people.Cost{Passes: 1, Memory: 1 << 10}
	r.again()
	if _, err := r.login("omar", good, ""); err != nil {
		t.Error(err)
	}
}

// Guesses are limited by address, and against many addresses by user; a right password in
// time gives its turn back, and a limited address is told when to come again.
func TestGuessesAreLimited(t *testing.T) {
	r := open(t)
	r.user("omar", people.Owner)
	for range 12 { // right ones cost nothing
		if _, err := r.login("omar", good, ""); err != nil {
			t.Fatal(err)
		}
	}
	var limit *client.LimitError
	for n := range 11 {
		if _, err := r.login("omar", "not this one, no", ""); n < 10 != errors.Is(err, people.ErrWrong) || n == 10 != errors.As(err, &limit) {
			t.Fatalf("guess %d: %v", n, err)
		}
	}
	if _, err := r.login("omar", good, ""); !errors.As(err, &limit) {
		t.Errorf("the right one after too many wrong ones: %v", err)
	}
	r.time.pass(limit.RetryAfter)
	if _, err := r.login("omar", good, ""); err != nil {
		t.Errorf("after %s: %v", limit.RetryAfter, err)
	}
}

// Many addresses together guess no faster, at a login that exists as at one that does not; and
// who is logged in already is not kept from their own account by that.
func TestManyAddressesGuessNoFaster(t *testing.T) {
	r := open(t)
	r.user("omar", people.Owner)
	s, err := r.login("omar", good, "")
	if err != nil {
		t.Fatal(err)
	}
	var limit *client.LimitError
	for i, login := range []string{"omar", "nobody", "nobody.else"} {
		tries := 0
		for ; tries < 60; tries++ {
			_, err := r.Login(t.Context(), people.Login{Login: login, Password: "not this one, no", Address: fmt.Sprintf("192.%d.%d.7", i, tries/9)})
			if errors.As(err, &limit) {
				break
			}
			if !errors.Is(err, people.ErrWrong) {
				t.Fatal(err)
			}
		}
		if tries != 50 {
			t.Errorf("%s: %d guesses", login, tries)
		}
	}
	c, _ := r.BySession(s.Token)
	if err := r.Prove(t.Context(), c, "192.0.2.9", good); err != nil {
		t.Errorf("one's own account meanwhile: %v", err)
	}
}

// What is first tried is no password, words in a row are.
func TestPasswordsThatAreFirstTriedAreRefused(t *testing.T) {
	r := open(t)
	in, err := r.Add(t.Context(), people.User{Login: "sara@example.org", Role: people.Owner})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"short", "password1234", "passwordpassword", "qwerty123456", "adminadmin12", "123456789012", "aaaaaaaaaaaa", "abcabcabcabc", "sara@example.org1", "sarasarasara",
		"Password2026!", "radioradioradio", "athir-station-1", "كلمةكلمةكلمة", strings.Repeat("a river ", 30),
	} {
		if _, err := r.Accept(t.Context(), in.Token, bad); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, fine := range []string{good, other, "correct horse battery staple", "839104756201", "Xk2#mmq8!Lp0"} {
		made, err := r.Invite(t.Context(), in.User.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Accept(t.Context(), made.Token, fine); err != nil {
			t.Errorf("%q: %v", fine, err)
		}
	}
}

// A clock that was a day ahead leaves codes good once it is right again.
func TestACodeOfAWrongClockKeepsNobodyOut(t *testing.T) {
	r := open(t)
	u := r.user("omar", people.Owner)
	e, err := r.NewFactor(t.Context(), u.ID, "Athir")
	if err != nil {
		t.Fatal(err)
	}
	r.time.pass(24 * time.Hour)
	r.time.pass(-24*time.Hour + 10*time.Minute)
	code := func() string { c, _ := totp.GenerateCode(e.Secret, r.time.now()); return c }
	if _, err := r.Enrol(t.Context(), u.ID, e.Secret, code()); err != nil {
		t.Fatal(err)
	}
	r.time.pass(24 * time.Hour)
	if _, err := r.login("omar", good, code()); err != nil {
		t.Fatal(err)
	}
	r.time.pass(-24*time.Hour + time.Minute)
	if _, err := r.login("omar", good, code()); err != nil {
		t.Error(err)
	}
}

func TestASecondFactorIsGoodOnceAndForgivesAClock(t *testing.T) {
	r := open(t)
	u := r.user("omar", people.Owner)
	e, err := r.NewFactor(t.Context(), u.ID, "إذاعة: أثير")
	if err != nil || !strings.HasPrefix(e.URL, "otpauth://totp/") {
		t.Fatalf("%+v, %v", e, err)
	}
	code := func(at time.Duration) string {
		c, err := totp.GenerateCodeCustom(e.Secret, r.time.now().Add(at), totp.ValidateOpts{Period: 30, Digits: otp.DigitsSix})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if _, err := r.Enrol(t.Context(), u.ID, e.Secret, code(5*time.Minute)); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("a wrong code puts a factor in force: %v", err)
	}
	recovery, err := r.Enrol(t.Context(), u.ID, e.Secret, code(0))
	if err != nil || len(recovery) != 10 {
		t.Fatalf("%v, %v", recovery, err)
	}
	if _, err := r.login("omar", good, ""); !errors.Is(err, people.ErrSecondFactor) {
		t.Errorf("without a code: %v", err)
	}
	if _, err := r.login("omar", good, code(0)); !errors.Is(err, people.ErrWrong) {
		t.Errorf("the code of the enrolment was good twice: %v", err)
	}
	r.time.pass(time.Minute)
	early := code(30 * time.Second) // a phone that is half a minute ahead
	if _, err := r.login("omar", good, early); err != nil {
		t.Error(err)
	}
	for what, c := range map[string]string{"again": early, "the one before": code(0), "two steps late": code(-time.Minute)} {
		if _, err := r.login("omar", good, c); !errors.Is(err, people.ErrWrong) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := r.login("omar", good, strings.ToUpper(strings.ReplaceAll(recovery[3], "-", " "))); err != nil {
		t.Errorf("a recovery code: %v", err)
	}
	if _, err := r.login("omar", good, recovery[3]); !errors.Is(err, people.ErrWrong) {
		t.Errorf("a recovery code was good twice: %v", err)
	}
	if err := r.DropFactor(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := r.login("omar", good, ""); err != nil {
		t.Error(err)
	}
}

// One code, sent twice at the same time, lets one in.
func TestACodeSentTwiceAtOnceLetsOneIn(t *testing.T) {
	r := open(t)
	u := r.user("omar", people.Owner)
	e, err := r.NewFactor(t.Context(), u.ID, "Athir")
	if err != nil {
		t.Fatal(err)
	}
	code, _ := totp.GenerateCode(e.Secret, r.time.now())
	if _, err := r.Enrol(t.Context(), u.ID, e.Secret, code); err != nil {
		t.Fatal(err)
	}
	r.time.pass(time.Minute)
	code, _ = totp.GenerateCode(e.Secret, r.time.now())
	var in, out sync.Map
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			if _, err := r.login("omar", good, code); err == nil {
				in.Store(n, nil)
			} else {
				out.Store(n, err)
			}
		})
	}
	all.Wait()
	count := 0
	in.Range(func(any, any) bool { count++; return true })
	if count != 1 {
		t.Errorf("%d were let in", count)
	}
}

func TestANewPasswordEndsOtherSessions(t *testing.T) {
	r := open(t)
	r.user("omar", people.Owner)
	here, err := r.login("omar", good, "")
	if err != nil {
		t.Fatal(err)
	}
	there, err := r.login("omar", good, "")
	if err != nil {
		t.Fatal(err)
	}
	c, _ := r.BySession(here.Token)
	if err := r.Prove(t.Context(), c, "192.0.2.7", "wrong one, this"); !errors.Is(err, people.ErrWrong) {
		t.Errorf("with a wrong old one: %v", err)
	}
	if err := errors.Join(r.Prove(t.Context(), c, "192.0.2.7", good), r.SetPassword(t.Context(), c, other)); err != nil {
		t.Fatal(err)
	}
	if r.rights(here) == 0 || r.rights(there) != 0 {
		t.Errorf("here %b, there %b", r.rights(here), r.rights(there))
	}
}
