package publisher_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/publisher"
	"github.com/athir-radio/athir/internal/station"
)

type rig struct {
	*publisher.Publishers
	t     *testing.T
	path  string
	db    *store.DB
	now   time.Time
	lines *testkit.Lines
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "athir.db"), now: time.Date(2026, 3, 6, 20, 0, 0, 0, time.UTC)} // a Friday
	r.open()
	return r
}

func (r *rig) open() {
	r.t.Helper()
	db, err := store.Open(r.t.Context(), r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = db.Close() })
	r.db = db
	log, lines := testkit.Log(r.t)
	r.lines = lines
	r.Publishers, err = publisher.Open(r.t.Context(), publisher.Options{Log: log, DB: db, Zone: time.UTC, Now: func() time.Time { return r.now }})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) restart() {
	r.t.Helper()
	if err := r.db.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.open()
}

func (r *rig) add(o publisher.Publisher) publisher.Publisher {
	r.t.Helper()
	p, err := r.Add(r.t.Context(), o)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *rig) admit(user, secret string) live.Admission {
	return r.Admit(live.Credentials{Protocol: live.WHIP, User: user, Secret: secret, Address: "203.0.113.7"})
}

func TestAPublisherGoesLiveWithItsOwnSecret(t *testing.T) {
	r := newRig(t)
	sara := r.add(publisher.Publisher{Name: " Sara  Ali ", Show: "Evening", Auto: true})
	omar := r.add(publisher.Publisher{Name: "Omar"})
	if sara.Name != "Sara Ali" || len(sara.ID) != 8 || len(sara.Secret) != 26 || sara.ID == omar.ID || strings.ContainsAny(sara.ID+sara.Secret, ".:/?# ") {
		t.Errorf("added %+v", sara)
	}
	got := r.admit(sara.ID, sara.Secret)
	want := live.Admission{Allowed: true, Publisher: live.Presenter{ID: sara.ID, Name: "Sara Ali", Show: "Evening", Auto: true}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for what, c := range map[string][2]string{
		"another's secret": {sara.ID, omar.Secret}, "no secret": {sara.ID, ""}, "no user": {"", sara.Secret}, "none": {"", ""},
		"a prefix": {sara.ID, sara.Secret[:25]}, "unknown": {"nobody", sara.Secret}, "in lower case": {sara.ID, strings.ToLower(sara.Secret)},
	} {
		if a := r.Admit(live.Credentials{User: c[0], Secret: c[1]}); a.Allowed || a.Code != publisher.CodeUnknown || a.Publisher.ID != "" || a.Detail == "" {
			t.Errorf("%s: %+v", what, a)
		}
	}
	if r.admit(omar.ID, omar.Secret).Publisher.Auto {
		t.Error("waits for the studio, and is auto")
	}
	// After a restart the same; the secret is in no answer, no row and no line of the log.
	r.restart()
	if d := cmp.Diff(want, r.admit(sara.ID, sara.Secret)); d != "" {
		t.Error(d)
	}
	all, _ := r.List(t.Context())
	text, _ := json.Marshal(all)
	if err := r.db.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"list": string(text), "database": string(file), "log": r.lines.String()} {
		if strings.Contains(text, sara.Secret) {
			t.Errorf("the secret is in the %s", where)
		}
	}
	if len(all) != 2 || all[0].ID != sara.ID || all[1].ID != omar.ID || all[0].Slots == nil {
		t.Errorf("list %+v", all)
	}
}

func TestRevokedForgottenAndRenewed(t *testing.T) {
	r := newRig(t)
	p := r.add(publisher.Publisher{Name: "Sara"})
	for range 2 { // twice is once
		if got, err := r.Revoke(t.Context(), p.ID); err != nil || !got.Revoked || got.Secret != "" {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if a := r.admit(p.ID, p.Secret); a.Allowed || a.Code != publisher.CodeRevoked {
		t.Errorf("revoked: %+v", a)
	}
	if a := r.Allowed(p.ID); a.Allowed || a.Code != publisher.CodeRevoked || a.Publisher.Name != "Sara" {
		t.Errorf("while on the air: %+v", a)
	}
	// Who does not have the key is not told that it was revoked.
	if a := r.admit(p.ID, "guess"); a.Code != publisher.CodeUnknown {
		t.Errorf("%+v", a)
	}
	next, err := r.NewSecret(t.Context(), p.ID)
	if err != nil || next.Secret == p.Secret || next.Revoked {
		t.Errorf("%+v, %v", next, err)
	}
	if r.admit(p.ID, p.Secret).Code != publisher.CodeUnknown || !r.admit(p.ID, next.Secret).Allowed {
		t.Error("the old secret goes on, or the new one does not work")
	}
	if err := r.Remove(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	if r.admit(p.ID, next.Secret).Code != publisher.CodeUnknown || r.Allowed(p.ID).Code != publisher.CodeRevoked {
		t.Error("it was removed and goes on")
	}
	_, err1 := r.Revoke(t.Context(), p.ID)
	_, err2 := r.NewSecret(t.Context(), p.ID)
	_, err3 := r.Change(t.Context(), publisher.Publisher{ID: p.ID, Name: "x"})
	_, err4 := r.Find(p.ID)
	for _, err := range []error{err1, err2, err3, err4, r.Remove(t.Context(), p.ID), r.Touch(t.Context(), p.ID, r.now)} {
		if !errors.Is(err, station.ErrNotFound) {
			t.Error(err)
		}
	}
	for _, line := range []string{"publisher added", "publisher revoked", "publisher has a new secret", "publisher removed"} {
		if r.lines.Count(line, p.ID) == 0 {
			t.Errorf("%q is not in the log", line)
		}
	}
}

func TestScheduleDecidesWhoIsAdmittedAndWhoIsAuto(t *testing.T) {
	r := newRig(t)
	p := r.add(publisher.Publisher{Name: "Sara", Auto: true, Grace: 10, Slots: []publisher.Slot{{Day: "fri", From: "20:00", To: "22:00"}}})
	for after, want := range map[time.Duration]live.Admission{
		-11 * time.Minute: {Code: publisher.CodeEarly, RetryAt: r.now.Add(-10 * time.Minute).UnixMilli(), Detail: "It is too early. You may go live from Friday 6 March, 19:50 (station time)."},
		-time.Minute:      {Allowed: true, Publisher: live.Presenter{Until: r.now.Add(2 * time.Hour).UnixMilli()}},
		0:                 {Allowed: true, Publisher: live.Presenter{Until: r.now.Add(2 * time.Hour).UnixMilli(), Auto: true}},
		129 * time.Minute: {Allowed: true, Publisher: live.Presenter{Until: r.now.Add(2 * time.Hour).UnixMilli(), Auto: true}},
		130 * time.Minute: {Code: publisher.CodeLate, RetryAt: r.now.Add(7*24*time.Hour - 10*time.Minute).UnixMilli(), Detail: "Your time is over. You may go live again from Friday 13 March, 19:50 (station time)."},
	} {
		began := r.now
		r.now = began.Add(after)
		want.Publisher.ID, want.Publisher.Name = p.ID, "Sara"
		if d := cmp.Diff(want, r.Allowed(p.ID)); d != "" {
			t.Errorf("%s: %s", after, d)
		}
		if d := cmp.Diff(want, r.admit(p.ID, p.Secret)); d != "" {
			t.Errorf("%s: %s", after, d)
		}
		r.now = began
	}
	gone := r.add(publisher.Publisher{Name: "Guest", Until: r.now.UnixMilli()})
	if a := r.Allowed(gone.ID); a.Code != publisher.CodeLate || a.RetryAt != 0 || !strings.Contains(a.Detail, "Ask the studio") {
		t.Errorf("%+v", a)
	}
}

func TestWrongFieldsAreNamedAndChangeNothing(t *testing.T) {
	r := newRig(t)
	p := r.add(publisher.Publisher{Name: "Sara", Slots: []publisher.Slot{{Day: "Fri", From: "20:00", To: "22:00"}}})
	wrong := publisher.Publisher{
		ID: p.ID, Name: " \u200d", Show: "a\u202eb", From: 5, Until: 5, Grace: 241, Slots: []publisher.Slot{{"fri", "20:00", "21:00"}, {"noday", "1", "2"}},
	}
	_, added := r.Add(t.Context(), wrong)
	_, changed := r.Change(t.Context(), wrong)
	_, updated := r.Update(t.Context(), p.ID, publisher.Patch{Name: &wrong.Name, Show: &wrong.Show, Until: &wrong.Until, From: &wrong.From, Grace: &wrong.Grace, Slots: &wrong.Slots})
	for what, err := range map[string]error{"added": added, "changed": changed, "updated": updated} {
		for _, field := range []string{"name: must have 1 to 100", "show: must hold no control", "until: must be", "grace: must be 0 to 240", "slots[1].day: must be"} {
			if !errors.Is(err, station.ErrInvalid) || !strings.Contains(err.Error(), field) {
				t.Errorf("%s: %q is missing in %v", what, field, err)
			}
		}
	}
	many := make([]publisher.Slot, 51)
	if _, err := r.Update(t.Context(), p.ID, publisher.Patch{Slots: &many}); !errors.Is(err, station.ErrInvalid) || !strings.Contains(err.Error(), "slots: must have at most 50") {
		t.Error(err)
	}
	want := p
	want.Secret = ""
	if got, _ := r.Find(p.ID); !cmp.Equal(got, want) || got.Slots[0].Day != "fri" {
		t.Error(cmp.Diff(want, got))
	}
	name, auto := "Sara B", true
	got, err := r.Update(t.Context(), p.ID, publisher.Patch{Name: &name, Auto: &auto})
	if err != nil || got.Name != name || !got.Auto || len(got.Slots) != 1 || got.Secret != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = r.Change(t.Context(), publisher.Publisher{ID: p.ID, Name: "Sara C"}); err != nil || got.Auto || len(got.Slots) != 0 || !r.admit(p.ID, p.Secret).Allowed {
		t.Errorf("%+v, %v", got, err)
	}
}

// Guessing is slow, and does not lock out who has a key at the same address.
func TestWrongKeysAreLimitedByAddress(t *testing.T) {
	r := newRig(t)
	p := r.add(publisher.Publisher{Name: "Sara"})
	for i := range 10 {
		if a := r.admit(p.ID, fmt.Sprint(i)); a.Code != publisher.CodeUnknown {
			t.Fatalf("%d: %+v", i, a)
		}
	}
	a := r.admit(p.ID, "x")
	if a.Code != publisher.CodeLimited || a.RetryAt != r.now.Add(30*time.Second).UnixMilli() || !strings.Contains(a.Detail, "30 seconds") {
		t.Errorf("%+v", a)
	}
	if !r.admit(p.ID, p.Secret).Allowed {
		t.Error("a right key is refused")
	}
	if a := r.Admit(live.Credentials{User: p.ID, Secret: "x", Address: "198.51.100.9"}); a.Code != publisher.CodeUnknown {
		t.Errorf("another address: %+v", a)
	}
	r.now = r.now.Add(30 * time.Second)
	if a := r.admit(p.ID, "x"); a.Code != publisher.CodeUnknown {
		t.Errorf("later: %+v", a)
	}
}

// Encoders are asked about each half a minute while they send. One whose account has another
// secret meanwhile has not guessed, and its address keeps its tries.
func TestAskingAgainIsNoTry(t *testing.T) {
	r := newRig(t)
	p := r.add(publisher.Publisher{Name: "Sara"})
	again := live.Credentials{Protocol: live.RTMP, User: p.ID, Secret: p.Secret, Address: "203.0.113.7", Again: true}
	if !r.Admit(again).Allowed {
		t.Error("a right key is refused")
	}
	again.Secret = "x"
	for range 2 * 10 {
		if a := r.Admit(again); a.Code != publisher.CodeUnknown {
			t.Fatalf("%+v", a)
		}
	}
	if text := r.lines.String(); strings.Contains(text, "level=INFO msg=\"publisher asks") || strings.Contains(text, "level=WARN") {
		t.Errorf("the log:\n%s", text)
	}
	if a := r.admit(p.ID, "x"); a.Code != publisher.CodeUnknown {
		t.Errorf("its address has no try left: %+v", a)
	}
	if text := r.lines.String(); !strings.Contains(text, "level=WARN") {
		t.Errorf("the log has no word of a guess:\n%s", text)
	}
}

// A page that is opened looks whose key it has: that is no try to go live in the log, and
// guesses are counted as those of any try.
func TestALookIsNoNewsAndAGuessAllTheSame(t *testing.T) {
	r := newRig(t)
	p := r.add(publisher.Publisher{Name: "Sara", Show: "Evening"})
	look := live.Credentials{Protocol: live.WHIP, User: p.ID, Secret: p.Secret, Address: "203.0.113.7", Look: true}
	if a := r.Admit(look); !a.Allowed || a.Publisher.Name != "Sara" || a.Publisher.Show != "Evening" {
		t.Errorf("%+v", a)
	}
	if text := r.lines.String(); strings.Contains(text, "level=INFO msg=\"publisher asks") {
		t.Errorf("the log:\n%s", text)
	}
	look.Secret = "x"
	limited := false
	for range 2 * 10 {
		limited = limited || r.Admit(look).Code == publisher.CodeLimited
	}
	if !limited {
		t.Error("guesses are not limited")
	}
}

func TestLastLiveIsWrittenOnceAMinute(t *testing.T) {
	r := newRig(t)
	p := r.add(publisher.Publisher{Name: "Sara"})
	began := r.now
	for range 90 {
		r.now = r.now.Add(time.Second)
		if err := r.Touch(t.Context(), p.ID, r.now); err != nil {
			t.Fatal(err)
		}
	}
	r.restart()
	if got, _ := r.Find(p.ID); got.LastLiveAt != began.Add(61*time.Second).UnixMilli() {
		t.Errorf("last live %s", time.UnixMilli(got.LastLiveAt).UTC())
	}
}

func TestConcurrentChangesAreAllKept(t *testing.T) {
	r := newRig(t)
	p := r.add(publisher.Publisher{Name: "Sara"})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 5 {
				grace := 10*i + j
				if _, err := r.Update(context.Background(), p.ID, publisher.Patch{Grace: &grace}); err != nil {
					t.Error(err)
				}
				if _, err := r.Add(context.Background(), publisher.Publisher{Name: fmt.Sprint(i, j)}); err != nil {
					t.Error(err)
				}
				r.admit(p.ID, p.Secret)
			}
		})
	}
	wg.Wait()
	all, _ := r.List(t.Context())
	r.restart()
	again, _ := r.List(t.Context())
	if d := cmp.Diff(all, again); d != "" || len(all) != 21 {
		t.Errorf("%d, %s", len(all), d)
	}
}
