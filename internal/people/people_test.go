package people_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	good  = "the river was low in August"
	other = "كل يوم في نفس الموعد"
)

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.t }

func (c *clock) pass(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.t = c.t.Add(d) }

type rig struct {
	*people.People
	t     *testing.T
	time  *clock
	path  string
	db    *store.DB
	lines *testkit.Lines
	cost  people.Cost
}

func open(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, time: &clock{t: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)}, path: filepath.Join(t.TempDir(), "athir.db"), cost: people.Cost{Passes: 1, Memory: 1 << 10}}
	r.again()
	return r
}

// again opens the database, as a restart does.
func (r *rig) again() {
	r.t.Helper()
	if r.db != nil {
		if err := r.db.Close(); err != nil {
			r.t.Fatal(err)
		}
	}
	db, err := store.Open(r.t.Context(), r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = db.Close() })
	r.db = db
	var log *slog.Logger
	log, r.lines = testkit.Log(r.t)
	if r.People, err = people.Open(r.t.Context(), people.Options{Log: log, DB: db, Now: r.time.now, Cost: r.cost}); err != nil {
		r.t.Fatal(err)
	}
}

// user is somebody with the password good.
func (r *rig) user(login string, role people.Role) people.User {
	r.t.Helper()
	in, err := r.Add(r.t.Context(), people.User{Login: login, Name: login, Role: role})
	if err != nil {
		r.t.Fatal(err)
	}
	u, err := r.Accept(r.t.Context(), in.Token, good)
	if err != nil {
		r.t.Fatal(err)
	}
	return u
}

func (r *rig) login(login, password, code string) (people.Session, error) {
	return r.Login(r.t.Context(), people.Login{Login: login, Password: password, Code: code, Address: "192.0.2.7", Agent: "Firefox"})
}

// used notes the last use, as Run does.
func (r *rig) used(c people.Caller) {
	r.t.Helper()
	r.Used(c)
	if err := r.NoteUse(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) rights(s people.Session) people.Right {
	c, ok := r.BySession(s.Token)
	if !ok {
		return 0
	}
	return c.Rights
}

func TestAnInvitationBecomesAUserAndASession(t *testing.T) {
	r := open(t)
	in, err := r.Add(t.Context(), people.User{Login: " Sara@Example.org ", Name: "سارة", Role: people.Presenter})
	if err != nil {
		t.Fatal(err)
	}
	if in.User.Login != "sara@example.org" || in.User.Password || in.Until != r.time.now().Add(7*24*time.Hour).UnixMilli() {
		t.Errorf("%+v", in)
	}
	if _, err := r.login("sara@example.org", "", ""); !errors.Is(err, people.ErrWrong) {
		t.Errorf("before a password is set: %v", err)
	}
	if _, err := r.Accept(t.Context(), in.Token, "sara@example.org1"); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("one's own name as a password: %v", err)
	}
	if _, err := r.Accept(t.Context(), in.Token, other); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Accept(t.Context(), in.Token, good); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("a link was good twice: %v", err)
	}
	s, err := r.login("SARA@example.org", other, "")
	if err != nil {
		t.Fatal(err)
	}
	r.again()
	c, ok := r.BySession(s.Token)
	if !ok || c.Name != "سارة" || c.Rights != people.Look|people.Inside|people.Requests|people.Air || c.Way != people.BySession {
		t.Errorf("%+v, %v", c, ok)
	}
	if _, ok := r.BySession(s.Token + "a"); ok {
		t.Error("another token is let in")
	}
	if err := r.EndSession(t.Context(), c.User, c.Of); err != nil {
		t.Fatal(err)
	}
	if r.rights(s) != 0 {
		t.Error("a session goes on after its end")
	}
}

// What is in the database opens nothing: a thief of a backup has to guess.
func TestTheDatabaseHoldsNoSecretThatOpens(t *testing.T) {
	r := open(t)
	u := r.user("omar", people.Owner)
	in, err := r.Add(t.Context(), people.User{Login: "nour", Role: people.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.login("omar", good, "")
	if err != nil {
		t.Fatal(err)
	}
	k, err := r.AddKey(t.Context(), people.Key{User: u.ID, Name: "scripts"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.NewFactor(t.Context(), u.ID, "Athir")
	if err != nil {
		t.Fatal(err)
	}
	code, _ := totp.GenerateCode(e.Secret, r.time.now())
	codes, err := r.Enrol(t.Context(), u.ID, e.Secret, code)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, table := range []string{"people_users", "people_keys", "people_sessions", "people_invitations", "people_recovery", "people_orders"} {
		rows, err := r.db.Read().QueryContext(t.Context(), `SELECT * FROM `+table)
		if err != nil {
			t.Fatal(err)
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new([]byte)
			}
			if err := rows.Scan(values...); err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				all.Write(*v.(*[]byte))
				all.WriteByte('\n')
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for what, secret := range map[string]string{"password": good, "session": s.Token, "key": k.Secret, "link": in.Token, "recovery code": codes[0], "recovery code as it is compared": strings.ReplaceAll(codes[0], "-", "")} {
		if secret == "" || strings.Contains(all.String(), secret) {
			t.Errorf("the %s is in the database", what)
		}
	}
}

func TestAKeyNeverHasMoreThanItsUser(t *testing.T) {
	r := open(t)
	r.user("omar", people.Owner)
	u := r.user("huda", people.Programmer)
	if _, err := r.AddKey(t.Context(), people.Key{User: u.ID, Name: "all", Role: people.Owner}); !errors.Is(err, station.ErrInvalid) {
		t.Errorf("an owner's key for a programmer: %v", err)
	}
	k, err := r.AddKey(t.Context(), people.Key{User: u.ID, Name: "playlist", Role: people.Presenter, Until: r.time.now().Add(time.Hour).UnixMilli()})
	if err != nil {
		t.Fatal(err)
	}
	c, ok := r.ByKey(k.Secret)
	if !ok || c.Rights != people.Look|people.Inside|people.Requests|people.Air || !people.IsKey(k.Secret) {
		t.Errorf("%+v, %v", c, ok)
	}
	r.used(c)
	if keys, err := r.Keys(u.ID); err != nil || len(keys) != 1 || keys[0].UsedDay != r.time.now().Unix()/86400 || keys[0].Secret != "" {
		t.Errorf("%+v, %v", keys, err)
	}
	moderator := people.Moderator
	if _, err := r.Update(t.Context(), u.ID, people.Patch{Role: &moderator}); err != nil {
		t.Fatal(err)
	}
	if c, _ := r.ByKey(k.Secret); c.Rights != people.Look|people.Inside|people.Requests {
		t.Errorf("after its user lost the air the key has %b", c.Rights)
	}
	yes := true
	if _, err := r.Update(t.Context(), u.ID, people.Patch{Locked: &yes}); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.ByKey(k.Secret); ok {
		t.Error("the key of a locked user is let in")
	}
	no := false
	if _, err := r.Update(t.Context(), u.ID, people.Patch{Locked: &no}); err != nil {
		t.Fatal(err)
	}
	r.time.pass(time.Hour)
	if _, ok := r.ByKey(k.Secret); ok {
		t.Error("a key is let in after its time")
	}
	if err := r.RevokeKey(t.Context(), u.ID, k.ID); err != nil {
		t.Error(err)
	}
	if err := r.RevokeKey(t.Context(), u.ID, k.ID); !errors.Is(err, station.ErrNotFound) {
		t.Errorf("revoked twice: %v", err)
	}
}

func TestTheLastOwnerStays(t *testing.T) {
	r := open(t)
	u := r.user("omar", people.Owner)
	viewer, yes := people.Viewer, true
	for what, try := range map[string]func() error{
		"role":   func() error { _, err := r.Update(t.Context(), u.ID, people.Patch{Role: &viewer}); return err },
		"lock":   func() error { _, err := r.Update(t.Context(), u.ID, people.Patch{Locked: &yes}); return err },
		"remove": func() error { return r.Remove(t.Context(), u.ID) },
	} {
		if err := try(); !errors.Is(err, station.ErrConflict) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := r.Add(t.Context(), people.User{Login: "sara", Role: people.Owner}); err != nil { // cannot log in yet
		t.Fatal(err)
	}
	if err := r.Remove(t.Context(), u.ID); !errors.Is(err, station.ErrConflict) {
		t.Errorf("beside an owner who cannot log in: %v", err)
	}
	r.user("nour", people.Owner)
	if err := r.Remove(t.Context(), u.ID); err != nil {
		t.Error(err)
	}
}

// Two owners who remove each other at the same time leave one.
func TestTwoOwnersCannotRemoveEachOther(t *testing.T) {
	r := open(t)
	users := []people.User{r.user("omar", people.Owner), r.user("nour", people.Owner)}
	var all sync.WaitGroup
	for _, u := range users {
		all.Go(func() { _ = r.Remove(t.Context(), u.ID) })
	}
	all.Wait()
	if list := r.List(); len(list) != 1 {
		t.Errorf("%d are left", len(list))
	}
}

// A database that nobody can write to keeps nobody out who is logged in.
func TestNobodyWaitsForTheLastUse(t *testing.T) {
	r := open(t)
	r.user("omar", people.Owner)
	s, err := r.login("omar", good, "")
	if err != nil {
		t.Fatal(err)
	}
	r.time.pass(2 * time.Hour)
	held, release := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- r.db.Write(context.Background(), func(*sql.Tx) error { close(held); <-release; return nil })
	}()
	<-held
	for range 200 { // more than may wait to be noted
		c, ok := r.BySession(s.Token)
		if !ok {
			t.Fatal("a session is refused while nothing can be written")
		}
		r.Used(c)
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestASessionEndsUnusedAndGoesOnUsed(t *testing.T) {
	r := open(t)
	r.user("omar", people.Owner)
	s, err := r.login("omar", good, "")
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		r.time.pass(29 * 24 * time.Hour)
		c, ok := r.BySession(s.Token)
		if !ok {
			t.Fatal("a session that is used has ended")
		}
		r.used(c)
	}
	r.time.pass(30 * 24 * time.Hour)
	if r.rights(s) != 0 {
		t.Error("a session that nobody used for a month goes on")
	}
}
