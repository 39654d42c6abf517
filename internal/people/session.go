package people

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/athir-radio/athir/internal/station"
)

const (
	// sessionLasts is how long a session holds that nobody uses, longestSession how long at most.
	sessionLasts   = 30 * 24 * time.Hour
	longestSession = 180 * 24 * time.Hour
	// seenEvery is how exact the time of last use is: one write for so long.
	seenEvery = time.Hour
	// noteAgain is how long no last use is noted after one that could not be: each request
	// would try again on a full disk.
	noteAgain    = time.Minute
	longestAgent = 200
)

// Session is a browser that is logged in, as the API has it. Times are epoch milliseconds.
type Session struct {
	ID        string `json:"id"`
	User      string `json:"user"`
	Agent     string `json:"agent"` // the browser, as it says
	CreatedAt int64  `json:"createdAt"`
	SeenAt    int64  `json:"seenAt"` // to the hour
	Until     int64  `json:"until"`
	// Token is the cookie's; Login alone has it.
	Token string `json:"-"`
}

type session = Session

// Login is what somebody typed.
type Login struct {
	Login, Password string
	Code            string // of the authenticator app, or a recovery code
	Address, Agent  string
}

// Login begins a session. Errors: ErrWrong; ErrSecondFactor; *client.LimitError after too
// many wrong ones.
func (p *People) Login(ctx context.Context, l Login) (Session, error) {
	u, known := p.byLogin(l.Login)
	if err := p.right(ctx, u, known, l.Address, l.Password); err != nil {
		return Session{}, err
	}
	if u.totp != "" {
		if l.Code == "" {
			return Session{}, ErrSecondFactor
		}
		if err := p.second(ctx, u, l.Address, l.Code); err != nil {
			return Session{}, err
		}
	}
	return p.begin(ctx, u, l.Agent)
}

func (p *People) byLogin(login string) (user, bool) {
	login = folded(login)
	all := p.all.Load()
	i := slices.IndexFunc(all.users, func(u user) bool { return u.Login == login })
	if i < 0 {
		return user{}, false
	}
	return all.users[i], true
}

// right checks a password. Whoever has none, is locked or does not exist is answered as a
// wrong password is, and after as long. A wrong one counts against the address and the user.
func (p *People) right(ctx context.Context, u user, known bool, address, password string) error {
	hash := u.password
	if !known || hash == "" {
		hash = p.nobody
	}
	return p.guess(u, address, func() (ok bool, err error) {
		err = p.hashed(ctx, func() { ok = matches(hash, norm.NFC.String(password)) })
		return ok && known && !u.Locked && u.password != "", err
	})
}

// guess is a try that counts where it fails: against the address, and against the user, so
// that many addresses together guess no faster. Who is limited is not compared at all.
func (p *People) guess(u user, address string, try func() (bool, error)) error {
	if err := p.address.Take(address); err != nil {
		return err
	}
	name := "user " + u.ID // of those who do not exist, all together
	if err := p.user.Take(name); err != nil {
		return err
	}
	ok, err := try()
	if err != nil || !ok {
		if err == nil {
			p.opt.Log.Warn("login refused", "user", u.ID, "address", address)
			p.refusals.Add(1)
			err = ErrWrong
		}
		return err
	}
	p.address.Give(address)
	p.user.Give(name)
	return nil
}

// begin makes a session for whom all was right; the user's oldest ends where there are too many.
func (p *People) begin(ctx context.Context, u user, agent string) (Session, error) {
	token := rand.Text() + rand.Text() // 260 bits
	hash := sha256.Sum256([]byte(token))
	now := p.opt.Now()
	agent = clean(agent)
	if len(agent) > longestAgent {
		agent = agent[:longestAgent]
	}
	s := Session{
		ID: newID(), User: u.ID, Agent: agent, Token: token,
		CreatedAt: now.UnixMilli(), SeenAt: now.UnixMilli(), Until: now.Add(sessionLasts).UnixMilli(),
	}
	err := p.change(ctx, func(tx *sql.Tx) error {
		if had, err := p.of(u.ID); err != nil || had.Locked || had.password != u.password {
			return ErrWrong // changed meanwhile
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM people_sessions WHERE until <= ?1 OR user = ?2 AND id IN
			(SELECT id FROM people_sessions WHERE user = ?2 AND until > ?1 ORDER BY seen DESC LIMIT -1 OFFSET ?3)`, now.UnixMilli(), u.ID, mostSessions-1)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO people_sessions (hash, id, user, agent, created, seen, until) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			hash[:], s.ID, s.User, s.Agent, s.CreatedAt, s.SeenAt, s.Until)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE people_users SET seen = ? WHERE id = ?`, now.UnixMilli(), u.ID)
		return err
	})
	if err != nil {
		return Session{}, err
	}
	p.logins.Add(1)
	p.opt.Log.Info("logged in", "user", u.ID, "login", u.Login, "session", s.ID)
	return s, nil
}

// Begin makes a session for a user who has shown otherwise who it is. Errors: ErrWrong for
// one who is locked or gone.
func (p *People) Begin(ctx context.Context, id, agent string) (Session, error) {
	u, err := p.of(id)
	if err != nil {
		return Session{}, ErrWrong
	}
	return p.begin(ctx, u, agent)
}

// Longest is when a session ends at the latest, however often it is used.
func (s Session) Longest() time.Time { return time.UnixMilli(s.CreatedAt).Add(longestSession) }

// BySessionID is whose session this is; false for none that holds.
func (p *People) BySessionID(id string) (Caller, bool) {
	all := p.all.Load()
	for _, s := range all.sessions {
		if s.ID == id {
			return p.callerOf(all, s)
		}
	}
	return Caller{}, false
}

// BySession is whose cookie this is; false for none that holds.
func (p *People) BySession(token string) (Caller, bool) {
	all := p.all.Load()
	s, ok := all.sessions[sha256.Sum256([]byte(token))]
	if !ok {
		return Caller{}, false
	}
	return p.callerOf(all, s)
}

func (p *People) callerOf(all *everybody, s session) (Caller, bool) {
	u, known := all.byID[s.User]
	if !known || u.Locked || p.now() >= s.Until {
		return Caller{}, false
	}
	return Caller{User: u.ID, Name: u.Name, Rights: u.Role.Rights(), Way: BySession, Of: s.ID}, true
}

// Used notes that a session or key was used: once an hour, and once a day. It fails quietly:
// a full disk keeps nobody from their work.
func (p *People) Used(ctx context.Context, c Caller) {
	now := p.opt.Now()
	if now.UnixMilli() < p.noting.Load() {
		return
	}
	all := p.all.Load()
	var err error
	switch c.Way {
	case BySession:
		for hash, s := range all.sessions {
			if s.ID != c.Of || now.Sub(time.UnixMilli(s.SeenAt)).Abs() < seenEvery {
				continue
			}
			until := min(now.Add(sessionLasts).UnixMilli(), s.Longest().UnixMilli())
			err = p.change(ctx, func(tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, `UPDATE people_sessions SET seen = ?, until = ? WHERE hash = ?`, now.UnixMilli(), until, hash[:])
				_, err2 := tx.ExecContext(ctx, `UPDATE people_users SET seen = ? WHERE id = ?`, now.UnixMilli(), c.User)
				return errors.Join(err, err2)
			})
		}
	case ByKey:
		today := day(now)
		for hash, k := range all.keys {
			if k.ID != c.Of || k.UsedDay >= today {
				continue
			}
			err = p.change(ctx, func(tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, `UPDATE people_keys SET used = ? WHERE hash = ?`, today, hash[:])
				return err
			})
		}
	}
	if err != nil {
		p.noting.Store(now.Add(noteAgain).UnixMilli())
		p.opt.Log.Warn("cannot note the last use", "user", c.User, "way", c.Way, "err", err)
	}
}

func day(t time.Time) int64 { return t.Unix() / (24 * 60 * 60) }

// Sessions are those of a user that hold, the newest first.
func (p *People) Sessions(id string) ([]Session, error) {
	if _, err := p.of(id); err != nil {
		return nil, err
	}
	out := []Session{}
	for _, s := range p.all.Load().sessions {
		if s.User == id && p.now() < s.Until {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Session) int { return int(min(max(b.SeenAt-a.SeenAt, -1), 1)) })
	return out, nil
}

// EndSession logs a browser of a user out. Errors: station.ErrNotFound.
func (p *People) EndSession(ctx context.Context, id, session string) error {
	return p.remove(ctx, `DELETE FROM people_sessions WHERE user = ? AND id = ?`, "session", id, session)
}

// EndSessions logs all browsers of a user out, but one.
func (p *People) EndSessions(ctx context.Context, id, but string) error {
	return p.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM people_sessions WHERE user = ? AND id <> ?`, id, but)
		return err
	})
}

// remove deletes one row of a user's.
func (p *People) remove(ctx context.Context, query, what, user string, id any) error {
	return p.change(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, query, user, id)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, fmt.Errorf("%s %.40q: %w", what, fmt.Sprint(id), station.ErrNotFound))
		}
		return nil
	})
}
