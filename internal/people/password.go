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
	"runtime"
	"strings"
	"unicode"
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

// hashing has room for one password at a time, and for few that wait: each takes 64 MiB, and
// many logins at once must not take the memory of what is on the air.
type hashing struct{ room, waiting chan struct{} }

// mostWaiting is how many logins may wait: a few seconds of work.
const mostWaiting = 32

func newHashing() hashing {
	return hashing{make(chan struct{}, 1), make(chan struct{}, mostWaiting)}
}

// hashed does work in its turn. The error is of kind station.ErrUnavailable where too many wait.
func (h hashing) hashed(ctx context.Context, work func()) error {
	select {
	case h.waiting <- struct{}{}:
	default:
		return fmt.Errorf("too many people log in at this moment: try again in some seconds: %w", station.ErrUnavailable)
	}
	defer func() { <-h.waiting }()
	select {
	case h.room <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.room }()
	work()
	runtime.GC() // else the memory of several waits for the collector's own time
	return nil
}

// hash is a password in PHC form.
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
// and refuses what is first tried: words of lists with a few signs, and repetitions.
func (u User) checkPassword(password string) error {
	n := utf8.RuneCountInString(password)
	switch {
	case !utf8.ValidString(password):
		return station.Wrong("password", "is not text", "كلمة المرور ليست نصًا")
	case n < shortestPassword:
		return station.Wrong("password", fmt.Sprintf("needs %d characters: some words in a row are easy to keep in mind", shortestPassword), "كلمة المرور 12 حرفًا على الأقل، وبضع كلمات متتالية أسهل في الحفظ")
	case n > longestPassword:
		return station.Wrong("password", fmt.Sprintf("may have %d characters", longestPassword), "كلمة المرور أطول من اللازم")
	}
	bare := strings.ToLower(strings.Join(strings.Fields(password), ""))
	left := bare
	name, _, _ := strings.Cut(u.Login, "@")
	for _, word := range append([]string{u.Login, name}, firstTried()...) {
		if utf8.RuneCountInString(word) > 2 {
			left = strings.ReplaceAll(left, word, "")
		}
	}
	if left != bare { // signs around such a word add little
		left = strings.TrimFunc(left, func(r rune) bool { return !unicode.IsLetter(r) })
	}
	if utf8.RuneCountInString(left) < 6 || repeats(bare) {
		return station.Wrong("password", "is one of the first that are tried: some words in a row that belong to nobody else are better", "كلمة المرور هذه من أول ما يُجرَّب، اختر كلمات متتالية لا يستخدمها غيرك")
	}
	return nil
}

// firstTried are parts of passwords that lists of them begin with, those of this trade included.
func firstTried() []string {
	return []string{
		"password", "passwort", "passw0rd", "p@ssw0rd", "p@ssword", "qwertyuiop", "qwerty", "asdfghjkl", "zxcvbnm", "azerty", "letmein", "welcome",
		"iloveyou", "administrator", "admin", "master", "monkey", "dragon", "football", "superman", "princess", "sunshine", "changeme", "secret", "login",
		"abc123", "123456789", "1234567", "12345", "987654321", "abcdefghijklmnopqrstuvwxyz", "abcdefgh", "egypt", "cairo", "allah", "mohamed", "ahmed",
		"radio", "station", "icecast", "liquidsoap", "azuracast", "athir", "studio", "broadcast",
	}
}

// repeats reports that a text is a short part again and again, or one character beside another.
func repeats(text string) bool {
	runes := []rune(text)
	distinct := map[rune]bool{}
	for _, r := range runes {
		distinct[r] = true
	}
	if len(distinct) < 5 {
		return true
	}
	for period := 1; period <= len(runes)/2; period++ {
		same := true
		for i := period; i < len(runes) && same; i++ {
			same = runes[i] == runes[i-period]
		}
		if same {
			return true
		}
	}
	return false
}

var errNoLink = fmt.Errorf("this link does not hold any more: ask an owner for another: %w", station.ErrNotFound)

// link is an invitation that is there.
type link struct {
	user  string
	until int64
}

// Invited is whom a link was made for. Errors: station.ErrNotFound for one that does not hold.
func (p *People) Invited(token string) (User, error) {
	l, ok := p.all.Load().links[sha256.Sum256([]byte(token))]
	if !ok || p.now() >= l.until {
		return User{}, errNoLink
	}
	return p.Find(l.user)
}

// Accept sets the password of whom a link was made for. All sessions end, and so does the
// link. Errors: station.ErrNotFound for a link that does not hold; station.ErrInvalid for
// the password.
func (p *People) Accept(ctx context.Context, token, password string) (User, error) {
	u, err := p.Invited(token)
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

// Prove compares one's own password once more, for an order of a session that outlasts it.
// Errors: ErrWrong; *client.LimitError.
func (p *People) Prove(ctx context.Context, c Caller, address, password string) error {
	u, err := p.of(c.User)
	if err != nil {
		return err
	}
	// By the session: strangers who guess at the login do not keep its user from this.
	return p.right(ctx, u, true, address, "session "+c.Of, password)
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
	if err := p.hashing.hashed(ctx, func() { hash = p.opt.Cost.hash(password) }); err != nil {
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
