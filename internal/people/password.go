package people

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"github.com/athir-radio/athir/internal/station"
)

// Cost is what a guess at a password costs, with argon2id.
type Cost struct {
	Passes uint32
	Memory uint32 // KiB
}

// Recommended is the second recommended option of RFC 9106.
func Recommended() Cost { return Cost{Passes: 3, Memory: 64 << 10} }

const (
	argonThreads = 4
	argonSalt    = 16
	argonSum     = 32
)

const (
	shortestPassword = 12
	longestPassword  = 200
)

// hashed waits for one of two places, so that many logins at once do not take the memory of
// what is on the air.
func (p *People) hashed(ctx context.Context, work func()) error {
	select {
	case p.hashing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.hashing }()
	work()
	return nil
}

// newHash is a password in PHC form.
func (c Cost) hash(password string) string {
	salt := make([]byte, argonSalt)
	_, _ = rand.Read(salt) // it never fails
	key := argon2.IDKey([]byte(password), salt, c.Passes, c.Memory, argonThreads, argonSum)
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.Memory, c.Passes, argonThreads, encode(salt), encode(key))
}

// matches compares a password with one in PHC form.
func matches(hash, password string) bool {
	var version int
	var memory, passes uint32
	var threads uint8
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false
	}
	if _, err := fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return false
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &passes, &threads); err != nil || memory > 1<<20 || passes == 0 || passes > 64 || threads == 0 {
		return false
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	want, err2 := base64.RawStdEncoding.DecodeString(parts[5])
	if errors.Join(err, err2) != nil || len(want) < 16 || len(want) > 64 {
		return false
	}
	got := argon2.IDKey([]byte(password), salt, passes, memory, threads, uint32(len(want))) //nolint:gosec // 64 at most
	return subtle.ConstantTimeCompare(got, want) == 1
}

// checkPassword asks for length, which is what resists guessing (NIST SP 800-63B-4, 3.1.1),
// and refuses what is first tried.
func (u User) checkPassword(password string) error {
	n := utf8.RuneCountInString(password)
	bare := strings.ToLower(strings.Join(strings.Fields(password), ""))
	distinct := map[rune]bool{}
	for _, r := range bare {
		distinct[r] = true
	}
	switch {
	case !utf8.ValidString(password):
		return &FieldError{"password", "is not text"}
	case n < shortestPassword:
		return &FieldError{"password", fmt.Sprintf("needs %d characters: some words in a row are easy to keep in mind", shortestPassword)}
	case n > longestPassword:
		return &FieldError{"password", fmt.Sprintf("may have %d characters", longestPassword)}
	case len(distinct) < 5:
		return &FieldError{"password", "repeats the same few characters"}
	case strings.Contains(bare, u.Login) && len(bare)-len(u.Login) < 6, strings.HasPrefix("abcdefghijklmnopqrstuvwxyz", bare),
		strings.HasPrefix("123456789012345678901234567890", bare), strings.HasPrefix("qwertyuiopasdfghjklzxcvbnm", bare):
		return &FieldError{"password", "is one of the first that are tried"}
	}
	return nil
}

var errNoLink = fmt.Errorf("this link does not hold any more: ask an owner for another: %w", station.ErrNotFound)

// Invited is whom a link was made for. Errors: station.ErrNotFound for one that does not hold.
func (p *People) Invited(ctx context.Context, token string) (User, error) {
	hash := sha256.Sum256([]byte(token))
	id := ""
	err := p.opt.DB.Read().QueryRowContext(ctx, `SELECT user FROM people_invitations WHERE hash = ? AND until > ?`, hash[:], p.now()).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return User{}, errNoLink
	}
	if err != nil {
		return User{}, err
	}
	return p.Find(id)
}

// Accept sets the password of whom a link was made for. All sessions end, and so does the
// link. Errors: station.ErrNotFound for a link that does not hold; station.ErrInvalid for
// the password.
func (p *People) Accept(ctx context.Context, token, password string) (User, error) {
	u, err := p.Invited(ctx, token)
	if err != nil {
		return User{}, err
	}
	hash := sha256.Sum256([]byte(token))
	return p.setPassword(ctx, u.ID, password, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `DELETE FROM people_invitations WHERE hash = ?`, hash[:])
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n != 1 { // used meanwhile
			return errors.Join(err, errNoLink)
		}
		return nil
	})
}

// Prove compares one's own password once more. Errors: ErrWrong; *client.LimitError.
func (p *People) Prove(ctx context.Context, id, address, password string) error {
	u, err := p.of(id)
	if err != nil {
		return err
	}
	return p.right(ctx, u, true, address, password)
}

// SetPassword replaces the password of a user who is logged in; all other sessions end.
// Errors: station.ErrInvalid for the new one.
func (p *People) SetPassword(ctx context.Context, c Caller, password string) error {
	_, err := p.setPassword(ctx, c.User, password, func(*sql.Tx) error { return nil }, c.Of)
	return err
}

// setPassword sets it with what else belongs to that, and ends all sessions but some.
func (p *People) setPassword(ctx context.Context, id, password string, also func(*sql.Tx) error, but ...string) (User, error) {
	u, err := p.of(id)
	if err != nil {
		return User{}, err
	}
	password = norm.NFC.String(password)
	if err := u.checkPassword(password); err != nil {
		return User{}, err
	}
	hash := ""
	if err := p.hashed(ctx, func() { hash = p.opt.Cost.hash(password) }); err != nil {
		return User{}, err
	}
	kept := ""
	if len(but) > 0 {
		kept = but[0]
	}
	err = p.change(ctx, func(tx *sql.Tx) error {
		if err := also(tx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE people_users SET password = ? WHERE id = ?`, hash, id)
		_, err2 := tx.ExecContext(ctx, `DELETE FROM people_sessions WHERE user = ? AND id <> ?`, id, kept)
		return errors.Join(err, err2)
	})
	if err != nil {
		return User{}, err
	}
	p.opt.Log.Info("password set", "user", id, "login", u.Login)
	return p.Find(id)
}
