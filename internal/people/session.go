package people

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// sessionLasts is how long a session holds that nobody uses, longestSession how long at most.
	sessionLasts   = 30 * 24 * time.Hour
	longestSession = 180 * 24 * time.Hour
	// seenEvery is how exact the time of last use is: one write for so long.
	seenEvery    = time.Hour
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
	if err := p.right(ctx, u, known, l.Address, "login "+folded(l.Login), l.Password); err != nil {
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
// wrong password is, and after as long. A wrong one counts against the address and the name,
// which is that of a login, known or not, or of a session.
func (p *People) right(ctx context.Context, u user, known bool, address, name, password string) error {
	hash := u.password
	if !known || hash == "" {
		hash = p.nobody
	}
	return p.guess(u, address, p.login, name, func() (ok bool, err error) {
		err = p.hashing.hashed(ctx, func() { ok = matches(hash, norm.NFC.String(password)) })
		return ok && known && !u.Locked && u.password != "", err
	})
}

// guess is a try that counts where it fails: against the address, and against a name, so
// that many addresses together guess no faster. Who is limited is not compared at all.
func (p *People) guess(u user, address string, limits *client.Limits, name string, try func() (bool, error)) error {
	if err := p.address.Take(address); err != nil {
		return err
	}
	if err := limits.Take(name); err != nil {
		p.address.Give(address)
		return err
	}
	ok, err := try()
	if ok || err != nil {
		p.address.Give(address)
		limits.Give(name)
		return err
	}
	p.opt.Log.Warn("login refused", "user", u.ID, "address", address)
	p.refusals.Add(1)
	return ErrWrong
}

// begin makes a session for whom all was right, with what else belongs to that; the user's
// oldest ends where there are too many.
func (p *People) begin(ctx context.Context, u user, agent string, also ...func(*sql.Tx) error) (Session, error) {
	token := rand.Text() + rand.Text() // 260 bits
	hash := sha256.Sum256([]byte(token))
	now := p.opt.Now()
	agent = clean(agent)
	if len(agent) > longestAgent {
		agent = strings.ToValidUTF8(agent[:longestAgent], "")
	}
	s := Session{
		ID: newID(), User: u.ID, Agent: agent, Token: token,
		CreatedAt: now.UnixMilli(), SeenAt: now.UnixMilli(), Until: now.Add(sessionLasts).UnixMilli(),
	}
	err := p.change(ctx, func(tx *sql.Tx) error {
		if had, err := p.of(u.ID); err != nil || had.Locked || had.password != u.password {
			return ErrWrong // changed meanwhile
		}
		for _, do := range also {
			if err := do(tx); err != nil {
				return err
			}
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

// ByID is whose session or key an id is; false for none that holds.
func (p *People) ByID(id string) (Caller, bool) {
	all := p.all.Load()
	hash := all.hashes[id]
	if s, ok := all.sessions[hash]; ok {
		return p.callerOf(all, s)
	}
	if k, ok := all.keys[hash]; ok {
		return p.callerBy(all, k)
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
	return Caller{User: u.ID, Name: u.Name, Rights: u.Role.Rights(), Way: BySession, Of: s.ID,
		stale: p.opt.Now().Sub(time.UnixMilli(s.SeenAt)).Abs() >= seenEvery}, true
}

// Used notes that a session or key was used: once an hour, and once a day. Run does it, so that
// nobody waits for a disk.
func (p *People) Used(c Caller) {
	if !c.stale {
		return
	}
	select {
	case p.uses <- c:
	default: // one of the next requests
	}
}

// note writes the last use of a session or key, if it is not noted yet.
func (p *People) note(ctx context.Context, c Caller) error {
	now, held := p.opt.Now(), false
	if c, held = p.ByID(c.Of); !held || !c.stale {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, waitForLog)
	defer cancel()
	return p.change(ctx, func(tx *sql.Tx) error {
		if c.Way == ByKey {
			_, err := tx.ExecContext(ctx, `UPDATE people_keys SET used = ? WHERE id = ?`, day(now), c.Of)
			return err
		}
		until := now.Add(sessionLasts).UnixMilli()
		_, err := tx.ExecContext(ctx, `UPDATE people_sessions SET seen = ?1, until = min(?2, created + ?3) WHERE id = ?4`, now.UnixMilli(), until, longestSession.Milliseconds(), c.Of)
		_, err2 := tx.ExecContext(ctx, `UPDATE people_users SET seen = ? WHERE id = ?`, now.UnixMilli(), c.User)
		return errors.Join(err, err2)
	})
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
