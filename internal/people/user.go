package people

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/athir-radio/athir/internal/station"
)

const (
	longestLogin = 64
	longestName  = 100
	// invited is how long a link to set a password holds.
	invited = 7 * 24 * time.Hour
)

// User is somebody, as the API has them. Times are epoch milliseconds.
type User struct {
	ID        string `json:"id"`
	Login     string `json:"login"` // what is typed to log in
	Name      string `json:"name"`  // what others see
	Role      Role   `json:"role"`
	Locked    bool   `json:"locked"`
	Password  bool   `json:"password"` // one is set
	TOTP      bool   `json:"totp"`
	Passkeys  int    `json:"passkeys"`
	Keys      int    `json:"keys"`
	Sessions  int    `json:"sessions"`
	Invited   int64  `json:"invited"` // until when a link to set a password holds; 0: there is none
	CreatedAt int64  `json:"createdAt"`
	SeenAt    int64  `json:"seenAt"` // to the hour; 0: never yet
}

// user is a User with what is not shown.
type user struct {
	User
	password string
	totp     string
	step     int64
}

// Invitation is a token that its user's link carries; it is shown once.
type Invitation struct {
	User  User   `json:"user"`
	Token string `json:"token"`
	Until int64  `json:"until"`
}

// List returns all users, the oldest first.
func (p *People) List() []User {
	all := p.all.Load()
	out := make([]User, len(all.users))
	for i, u := range all.users {
		out[i] = u.User
	}
	return out
}

// Find returns one user. The error is of kind station.ErrNotFound.
func (p *People) Find(id string) (User, error) {
	u, err := p.of(id)
	return u.User, err
}

// Add makes a user of login, name and role, and a link by which that one sets a password.
// Errors: station.ErrInvalid, naming the field; station.ErrConflict for a login that is
// taken, or when there are too many.
func (p *People) Add(ctx context.Context, o User) (Invitation, error) {
	u := User{ID: newID(), Login: folded(o.Login), Name: clean(o.Name), Role: o.Role, CreatedAt: p.now()}
	if u.Name == "" {
		u.Name = clean(o.Login)
	}
	if err := u.check(); err != nil {
		return Invitation{}, err
	}
	token := rand.Text()
	err := p.change(ctx, func(tx *sql.Tx) error {
		all := p.all.Load()
		if len(all.users) >= mostUsers {
			return tooMany(mostUsers, "users", "مستخدم")
		}
		for _, other := range all.users {
			if other.Login == u.Login {
				return NewRefusal("login_taken", fmt.Sprintf("login: %q is taken", u.Login), "اسم المستخدم هذا مستخدم من قبل", station.ErrConflict)
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO people_users (id, login, name, role, locked, password, totp, totp_step, created, seen)
			VALUES (?, ?, ?, ?, 0, '', '', 0, ?, 0)`, u.ID, u.Login, u.Name, string(u.Role), u.CreatedAt)
		if err != nil {
			return err
		}
		return p.invite(ctx, tx, u.ID, token)
	})
	if err != nil {
		return Invitation{}, err
	}
	p.opt.Log.Info("user added", "user", u.ID, "login", u.Login, "role", u.Role)
	return p.invitation(u.ID, token)
}

// Invite makes another link to set a password; the one before ends. What the user has now
// holds until the link is used. Errors: station.ErrNotFound.
func (p *People) Invite(ctx context.Context, id string) (Invitation, error) {
	token := rand.Text()
	err := p.change(ctx, func(tx *sql.Tx) error {
		if _, err := p.of(id); err != nil {
			return err
		}
		return p.invite(ctx, tx, id, token)
	})
	if err != nil {
		return Invitation{}, err
	}
	return p.invitation(id, token)
}

func (p *People) invite(ctx context.Context, tx *sql.Tx, id, token string) error {
	hash := sha256.Sum256([]byte(token))
	_, err := tx.ExecContext(ctx, `INSERT INTO people_invitations (hash, user, until) VALUES (?1, ?2, ?3)
		ON CONFLICT (user) DO UPDATE SET hash = ?1, until = ?3`, hash[:], id, p.opt.Now().Add(invited).UnixMilli())
	return err
}

func (p *People) invitation(id, token string) (Invitation, error) {
	u, err := p.of(id)
	return Invitation{User: u.User, Token: token, Until: u.Invited}, err
}

// Patch holds new values; nil keeps the old one.
type Patch struct {
	Name   *string `json:"name,omitempty"`
	Role   *Role   `json:"role,omitempty"`
	Locked *bool   `json:"locked,omitempty"`
}

// Update changes what the patch names. Who is locked or loses rights does so with the next
// request, in each session and with each key. Errors: station.ErrNotFound;
// station.ErrInvalid, naming the field; station.ErrConflict for the last owner.
func (p *People) Update(ctx context.Context, id string, c Patch) (User, error) {
	err := p.change(ctx, func(tx *sql.Tx) error {
		had, err := p.of(id)
		if err != nil {
			return err
		}
		u := had.User
		if c.Name != nil {
			u.Name = cmp.Or(clean(*c.Name), u.Login)
		}
		if c.Role != nil {
			u.Role = *c.Role
		}
		if c.Locked != nil {
			u.Locked = *c.Locked
		}
		if err := u.check(); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE people_users SET name = ?, role = ?, locked = ? WHERE id = ?`, u.Name, string(u.Role), u.Locked, id)
		return err
	})
	if err != nil {
		return User{}, err
	}
	u, err := p.Find(id)
	p.opt.Log.Info("user changed", "user", u.ID, "login", u.Login, "role", u.Role, "locked", u.Locked)
	return u, err
}

// Remove deletes a user with all keys and sessions; what was ordered stays in the log.
// Errors: station.ErrNotFound; station.ErrConflict for the last owner.
func (p *People) Remove(ctx context.Context, id string) error {
	had, err := p.of(id)
	if err != nil {
		return err
	}
	err = p.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM people_users WHERE id = ?`, id)
		return err
	})
	if err == nil {
		p.opt.Log.Info("user removed", "user", had.ID, "login", had.Login)
	}
	return err
}

func (u User) check() error {
	switch {
	case u.Login == "":
		return station.Wrong("login", "is empty", "اسم المستخدم فارغ")
	case utf8.RuneCountInString(u.Login) > longestLogin:
		return station.Wrong("login", fmt.Sprintf("may have %d characters", longestLogin), "اسم المستخدم أطول من اللازم")
	case strings.ContainsFunc(u.Login, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return station.Wrong("login", "may have no spaces", "اسم المستخدم لا يقبل المسافات")
	case utf8.RuneCountInString(u.Name) > longestName:
		return station.Wrong("name", fmt.Sprintf("may have %d characters", longestName), "الاسم أطول من اللازم")
	}
	return u.Role.check()
}

// folded is a login as it is compared: one form, whatever the keyboard wrote.
func folded(s string) string { return strings.ToLower(norm.NFKC.String(strings.TrimSpace(s))) }

// clean is a name on one line, without signs that turn what stands beside it around.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, norm.NFC.String(s))
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// newID is short, and fit for a URL.
func newID() string { return strings.ToLower(rand.Text()[:10]) }

func (p *People) now() int64 { return p.opt.Now().UnixMilli() }
