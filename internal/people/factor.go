package people

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/boombuler/barcode/qr"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"github.com/athir-radio/athir/internal/station"
)

// A second factor is a code of six digits each 30 s (RFC 6238), taken one step early or late.
const (
	totpPeriod    = 30
	totpSkew      = 1
	recoveryCodes = 10
)

// Enrolment is a second factor that is not in force yet: it is once a code of it was sent.
type Enrolment struct {
	Secret string `json:"secret"` // base32, to type
	URL    string `json:"url"`    // otpauth://
	// QR is the picture of URL to scan: rows of modules, dark ones 1, without a margin.
	QR []string `json:"qr" nullable:"false"`
}

// pending is a second factor that waits for its first code.
type pending struct {
	secret string
	until  time.Time
}

// enrolled is how long a second factor waits for its first code.
const enrolled = 15 * time.Minute

// NewFactor makes the secret of a second factor. It is kept in memory alone until Enrol: after
// a restart another one has to be made.
func (p *People) NewFactor(ctx context.Context, id, station string) (Enrolment, error) {
	u, err := p.of(id)
	if err != nil {
		return Enrolment{}, err
	}
	k, err := totp.Generate(totp.GenerateOpts{Issuer: issuer(station), AccountName: u.Login, Period: totpPeriod, SecretSize: 20, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
	if err != nil {
		return Enrolment{}, fmt.Errorf("make second factor: %w", err)
	}
	if err := p.inTurn(ctx); err != nil {
		return Enrolment{}, err
	}
	p.pending[id] = pending{k.Secret(), p.opt.Now().Add(enrolled)}
	p.turned()
	rows, err := modules(k.URL())
	return Enrolment{Secret: k.Secret(), URL: k.URL(), QR: rows}, err
}

// modules is a text as a QR code.
func modules(text string) ([]string, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return nil, fmt.Errorf("draw the second factor's code: %w", err)
	}
	size := code.Bounds()
	rows := make([]string, 0, size.Dy())
	for y := size.Min.Y; y < size.Max.Y; y++ {
		row := make([]byte, 0, size.Dx())
		for x := size.Min.X; x < size.Max.X; x++ {
			dark := byte('0')
			if r, _, _, _ := code.At(x, y).RGBA(); r < 1<<15 {
				dark = '1'
			}
			row = append(row, dark)
		}
		rows = append(rows, string(row))
	}
	return rows, nil
}

// issuer is what an app shows; a colon would end it.
func issuer(station string) string {
	if name := strings.TrimSpace(strings.ReplaceAll(station, ":", " ")); name != "" {
		return name
	}
	return "Athir"
}

// Enrol puts the newest second factor of NewFactor in force, by a code that its app shows, and
// returns recovery codes, which are shown once. Errors: station.ErrInvalid for the code, and
// for another secret than the newest.
func (p *People) Enrol(ctx context.Context, id, secret, code string) (codes []string, err error) {
	if _, err := p.of(id); err != nil {
		return nil, err
	}
	if err := p.inTurn(ctx); err != nil {
		return nil, err
	}
	waiting := p.pending[id]
	p.turned()
	if subtle.ConstantTimeCompare([]byte(waiting.secret), []byte(secret)) != 1 || secret == "" || p.opt.Now().After(waiting.until) {
		return nil, station.Wrong("secret", "does not hold any more: begin again", "انتهت صلاحية هذا الرمز السري، ابدأ من جديد")
	}
	at, ok := stepOf(secret, code, p.opt.Now(), 0)
	if !ok {
		return nil, station.Wrong("code", "does not belong to this secret: check the time of the phone, and send the code that is shown now", "الرمز غير صحيح، راجع ساعة الهاتف وأدخل الرمز الظاهر الآن")
	}
	for range recoveryCodes {
		text := strings.ToLower(rand.Text()[:16]) // 80 bits
		codes = append(codes, text[:4]+"-"+text[4:8]+"-"+text[8:12]+"-"+text[12:])
	}
	err = p.change(ctx, func(tx *sql.Tx) error {
		delete(p.pending, id)
		_, err := tx.ExecContext(ctx, `UPDATE people_users SET totp = ?, totp_step = ? WHERE id = ?`, secret, at, id)
		_, err2 := tx.ExecContext(ctx, `DELETE FROM people_recovery WHERE user = ?`, id)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		for _, c := range codes {
			hash := recoveryHash(c)
			if _, err := tx.ExecContext(ctx, `INSERT INTO people_recovery (hash, user) VALUES (?, ?)`, hash[:], id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p.opt.Log.Info("second factor is in force", "user", id)
	return codes, nil
}

// DropFactor ends a user's second factor, and its recovery codes.
func (p *People) DropFactor(ctx context.Context, id string) error {
	if _, err := p.of(id); err != nil {
		return err
	}
	err := p.dropFactor(ctx, id, "people_recovery")
	if err == nil {
		p.opt.Log.Info("second factor removed", "user", id)
	}
	return err
}

// RemoveFactors ends a user's second factor and passkeys, and all sessions: whoever lost a
// phone logs in with the password alone, and whoever found it does not stay in. Errors:
// station.ErrNotFound.
func (p *People) RemoveFactors(ctx context.Context, id string) (User, error) {
	if _, err := p.of(id); err != nil {
		return User{}, err
	}
	if err := p.dropFactor(ctx, id, "people_recovery", "people_passkeys", "people_sessions"); err != nil {
		return User{}, err
	}
	p.opt.Log.Info("second factor and passkeys removed", "user", id)
	return p.Find(id)
}

// dropFactor ends a second factor, with a user's rows of some tables.
func (p *People) dropFactor(ctx context.Context, id string, tables ...string) error {
	return p.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE people_users SET totp = '', totp_step = 0 WHERE id = ?`, id)
		for _, table := range tables {
			_, err2 := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE user = ?`, id)
			err = errors.Join(err, err2)
		}
		return err
	})
}

// RecoveryLeft is how many recovery codes of a user are left.
func (p *People) RecoveryLeft(ctx context.Context, id string) (n int, err error) {
	err = p.opt.DB.Read().QueryRowContext(ctx, `SELECT count(*) FROM people_recovery WHERE user = ?`, id).Scan(&n)
	return n, err
}

// second checks a code and uses it up: a step of the app, and a recovery code, each are
// good once, whoever looks over a shoulder.
func (p *People) second(ctx context.Context, u user, address, code string) error {
	return p.guess(u, address, p.codes, "user "+u.ID, func() (bool, error) {
		used := false
		err := p.change(ctx, func(tx *sql.Tx) error {
			now, err := p.of(u.ID)
			if err != nil || now.totp != u.totp {
				return err
			}
			if step, ok := stepOf(now.totp, code, p.opt.Now(), now.step); ok {
				_, err := tx.ExecContext(ctx, `UPDATE people_users SET totp_step = ? WHERE id = ?`, step, u.ID)
				used = err == nil
				return err
			}
			hash := recoveryHash(code)
			done, err := tx.ExecContext(ctx, `DELETE FROM people_recovery WHERE user = ? AND hash = ?`, u.ID, hash[:])
			if err != nil {
				return err
			}
			n, err := done.RowsAffected()
			used = n == 1
			return err
		})
		return used && err == nil, err
	})
}

// recoveryHash is that of a code however it was typed: 80 random bits need no slow hash.
func recoveryHash(code string) sum {
	return sha256.Sum256([]byte(strings.ToLower(strings.Join(strings.FieldsFunc(code, func(r rune) bool { return r == '-' || r == ' ' }), ""))))
}

// stepOf is the step that a code belongs to, within totpSkew of now and after the newest used.
// One that was used in what is the future again was used by a clock that was wrong.
func stepOf(secret, code string, now time.Time, used int64) (step int64, ok bool) {
	if used > now.Unix()/totpPeriod+totpSkew {
		used = 0
	}
	code = strings.Join(strings.Fields(code), "")
	for at := -totpSkew; at <= totpSkew; at++ {
		t := now.Add(time.Duration(at) * totpPeriod * time.Second)
		want, err := totp.GenerateCodeCustom(secret, t, totp.ValidateOpts{Period: totpPeriod, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		n := t.Unix() / totpPeriod
		if err == nil && n > used && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			step, ok = n, true
		}
	}
	return step, ok
}
