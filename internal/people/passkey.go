package people

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/athir-radio/athir/internal/station"
)

// ceremonyLasts is how long a browser may take to ask for a finger or a face.
const ceremonyLasts = 5 * time.Minute

// Site is the address under which a browser reaches the station. A passkey belongs to its
// host alone: that is what keeps another site from asking for it.
type Site struct {
	Origin string // https://radio.example.org
	Host   string // radio.example.org, with or without a port
	Name   string // of the station
}

// Passkey is one of a user's, as the API has it.
type Passkey struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	CreatedAt int64  `json:"createdAt"` // epoch milliseconds
	UsedDay   int64  `json:"usedDay"`   // days since 1970 (UTC); 0: never yet
}

// Ceremony is what a browser gets to make or show a passkey. State comes back with the answer.
type Ceremony struct {
	Options json.RawMessage `json:"options"` // of navigator.credentials
	State   string          `json:"state"`
}

// BeginPasskey asks a browser for another passkey of a user. Errors: station.ErrNotFound;
// station.ErrConflict when there are too many, or where the address can have none.
func (p *People) BeginPasskey(ctx context.Context, id string, site Site) (Ceremony, error) {
	w, err := site.party()
	if err != nil {
		return Ceremony{}, err
	}
	u, err := p.holder(ctx, id)
	if err != nil {
		return Ceremony{}, err
	}
	if len(u.credentials) >= mostPasskeys {
		return Ceremony{}, tooMany(mostPasskeys, "passkeys of this user", "مفاتيح مرور لهذا المستخدم")
	}
	options, state, err := w.BeginRegistration(u,
		webauthn.WithResidentKeyRequirement(protocol.ResidentKeyRequirementRequired),
		webauthn.WithExclusions(webauthn.Credentials(u.credentials).CredentialDescriptors()))
	if err != nil {
		return Ceremony{}, fmt.Errorf("ask for a passkey: %w", err)
	}
	return p.ceremonies.begin(options, state, site, p.opt.Now())
}

// AddPasskey takes what the browser made. Errors: ErrCeremony; station.ErrInvalid for the name
// and for what was made.
func (p *People) AddPasskey(ctx context.Context, id string, site Site, state, name string, answer []byte) (Passkey, error) {
	if name = clean(name); name == "" || utf8.RuneCountInString(name) > longestName {
		return Passkey{}, station.Wrong("name", fmt.Sprintf("says which device it is, in 1 to %d characters", longestName), "اكتب اسم الجهاز")
	}
	w, err := site.party()
	if err != nil {
		return Passkey{}, err
	}
	u, err := p.holder(ctx, id)
	if err != nil {
		return Passkey{}, err
	}
	began, err := p.ceremonies.end(state, site, p.opt.Now())
	if err != nil {
		return Passkey{}, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBody(bytes.NewReader(answer))
	if err != nil {
		return Passkey{}, p.notMade(id, err)
	}
	made, err := w.CreateCredential(u, began, parsed)
	if err != nil {
		return Passkey{}, p.notMade(id, err)
	}
	text, err := json.Marshal(made)
	if err != nil {
		return Passkey{}, err
	}
	out := Passkey{ID: base64.RawURLEncoding.EncodeToString(made.ID), Name: name, CreatedAt: p.now()}
	err = p.change(ctx, func(tx *sql.Tx) error {
		if !p.ceremonies.use(state, p.opt.Now()) {
			return ErrCeremony
		}
		if had, err := p.of(id); err != nil || had.Passkeys >= mostPasskeys {
			return errors.Join(err, tooMany(mostPasskeys, "passkeys of this user", "مفاتيح مرور لهذا المستخدم"))
		}
		known := 0
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM people_passkeys WHERE id = ?`, made.ID).Scan(&known); err != nil || known > 0 {
			return errors.Join(err, NewRefusal("known", "this passkey is there already", "مفتاح المرور هذا مضاف من قبل", station.ErrConflict))
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO people_passkeys (id, user, name, credential, created, used) VALUES (?, ?, ?, ?, ?, 0)`,
			made.ID, id, name, string(text), out.CreatedAt)
		return err
	})
	if err != nil {
		return Passkey{}, err
	}
	p.opt.Log.Info("passkey added", "user", id, "passkey", name)
	return out, nil
}

// BeginPasskeyLogin asks a browser for whichever passkey it has.
func (p *People) BeginPasskeyLogin(site Site) (Ceremony, error) {
	w, err := site.party()
	if err != nil {
		return Ceremony{}, err
	}
	options, state, err := w.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return Ceremony{}, fmt.Errorf("ask for a passkey: %w", err)
	}
	return p.ceremonies.begin(options, state, site, p.opt.Now())
}

// PasskeyLogin begins a session for the owner of a passkey. It stands for password and
// second factor: the device has asked for a finger, a face or its code. Errors: ErrCeremony;
// ErrWrong.
func (p *People) PasskeyLogin(ctx context.Context, site Site, state string, answer []byte, agent string) (Session, error) {
	w, err := site.party()
	if err != nil {
		return Session{}, err
	}
	began, err := p.ceremonies.end(state, site, p.opt.Now())
	if err != nil {
		return Session{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBody(bytes.NewReader(answer))
	if err != nil {
		return Session{}, p.refused("passkey refused", "", err)
	}
	var found holder
	shown, err := w.ValidateDiscoverableLogin(func(_, handle []byte) (webauthn.User, error) {
		var err error
		found, err = p.holder(ctx, string(handle))
		return found, err
	}, began, parsed)
	if err != nil {
		return Session{}, p.refused("login refused", found.ID, err)
	}
	if found.Locked || shown.Authenticator.CloneWarning {
		return Session{}, p.refused("login refused", found.ID, fmt.Errorf("locked %t, counter went back %t", found.Locked, shown.Authenticator.CloneWarning))
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return Session{}, err
	}
	return p.begin(ctx, found.user, agent, func(tx *sql.Tx) error {
		if !p.ceremonies.use(state, p.opt.Now()) {
			return ErrCeremony
		}
		done, err := tx.ExecContext(ctx, `UPDATE people_passkeys SET credential = ?, used = ? WHERE id = ?`, string(text), day(p.opt.Now()), shown.ID)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n != 1 { // removed meanwhile
			return errors.Join(err, ErrWrong)
		}
		return nil
	})
}

// notMade logs why a passkey was not taken.
func (p *People) notMade(id string, err error) error {
	p.opt.Log.Warn("passkey refused", "user", id, "err", err)
	return station.Wrong("answer", "is no passkey for this station", "مفتاح المرور هذا ليس لهذه المحطة")
}

// refused logs why, which the other side is not told.
func (p *People) refused(what, id string, err error) error {
	p.opt.Log.Warn(what, "user", id, "err", err)
	p.refusals.Add(1)
	return ErrWrong
}

// Passkeys are a user's, the oldest first. Errors: station.ErrNotFound.
func (p *People) Passkeys(ctx context.Context, id string) ([]Passkey, error) {
	if _, err := p.of(id); err != nil {
		return nil, err
	}
	out := []Passkey{}
	err := each(ctx, p.opt.DB.Read(), `SELECT id, name, created, used FROM people_passkeys WHERE user = ? ORDER BY created, id`, func(rows *sql.Rows) error {
		var k Passkey
		var raw []byte
		err := rows.Scan(&raw, &k.Name, &k.CreatedAt, &k.UsedDay)
		k.ID = base64.RawURLEncoding.EncodeToString(raw)
		out = append(out, k)
		return err
	}, id)
	return out, err
}

// RemovePasskey ends one of a user's. Errors: station.ErrNotFound.
func (p *People) RemovePasskey(ctx context.Context, id, passkey string) error {
	raw, err := base64.RawURLEncoding.DecodeString(passkey)
	if err != nil {
		return fmt.Errorf("passkey %.40q: %w", passkey, station.ErrNotFound)
	}
	return p.remove(ctx, `DELETE FROM people_passkeys WHERE user = ? AND id = ?`, "passkey", id, raw)
}

// holder is a user as the library knows one.
type holder struct {
	user
	credentials []webauthn.Credential
}

func (h holder) WebAuthnID() []byte                         { return []byte(h.ID) }
func (h holder) WebAuthnName() string                       { return h.Login }
func (h holder) WebAuthnDisplayName() string                { return h.Name }
func (h holder) WebAuthnCredentials() []webauthn.Credential { return h.credentials }

func (p *People) holder(ctx context.Context, id string) (h holder, err error) {
	if h.user, err = p.of(id); err != nil {
		return holder{}, err
	}
	err = each(ctx, p.opt.DB.Read(), `SELECT credential FROM people_passkeys WHERE user = ? ORDER BY created`, func(rows *sql.Rows) error {
		var text string
		var c webauthn.Credential
		if err := rows.Scan(&text); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			return fmt.Errorf("passkey of user %s: %w", id, err)
		}
		h.credentials = append(h.credentials, c)
		return nil
	}, id)
	return h, err
}

// Possible reports whether browsers have passkeys for a site: they want a name, and TLS or the
// machine itself.
func (s Site) Possible() bool {
	name := s.name()
	_, err := s.party()
	return err == nil && (strings.HasPrefix(s.Origin, "https://") || name == "localhost" || strings.HasSuffix(name, ".localhost"))
}

func (s Site) name() string {
	if host, _, err := net.SplitHostPort(s.Host); err == nil {
		return host
	}
	return s.Host
}

// party is the station as browsers know it. They give passkeys to names alone, and over TLS
// or on the machine itself.
func (s Site) party() (*webauthn.WebAuthn, error) {
	name := s.name()
	w, err := webauthn.New(&webauthn.Config{
		RPID: name, RPDisplayName: issuer(s.Name), RPOrigins: []string{s.Origin},
		AuthenticatorSelection: protocol.AuthenticatorSelection{UserVerification: protocol.VerificationRequired},
	})
	if err != nil || net.ParseIP(name) != nil {
		return nil, fmt.Errorf("passkeys need a name and https, and %s has not both: %w", s.Origin, station.ErrConflict)
	}
	return w, nil
}

// ceremonies keeps nothing of a ceremony until it has come to a good end: its state travels
// sealed with the browser, so that nobody can fill this program's memory by beginning many.
type ceremonies struct {
	seal cipher.AEAD

	mu   sync.Mutex
	used map[sum]time.Time // that came to a good end, until they would be over
}

type ceremony struct {
	Session webauthn.SessionData
	Origin  string // at which it began: an answer from elsewhere, also of the same domain, is none
	Until   int64
}

func newCeremonies() (*ceremonies, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &ceremonies{seal: seal, used: map[sum]time.Time{}}, nil
}

func (c *ceremonies) begin(options any, session *webauthn.SessionData, site Site, now time.Time) (Ceremony, error) {
	text, err := json.Marshal(options)
	if err != nil {
		return Ceremony{}, err
	}
	state, err := json.Marshal(ceremony{*session, site.Origin, now.Add(ceremonyLasts).UnixMilli()})
	if err != nil {
		return Ceremony{}, err
	}
	return Ceremony{Options: text, State: base64.RawURLEncoding.EncodeToString(c.seal.Seal(nil, nil, state, nil))}, nil
}

func (c *ceremonies) end(state string, site Site, now time.Time) (webauthn.SessionData, error) {
	sealed, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil {
		return webauthn.SessionData{}, ErrCeremony
	}
	text, err := c.seal.Open(nil, nil, sealed, nil)
	if err != nil {
		return webauthn.SessionData{}, ErrCeremony
	}
	var was ceremony
	if err := json.Unmarshal(text, &was); err != nil || now.UnixMilli() >= was.Until || was.Origin != site.Origin {
		return webauthn.SessionData{}, ErrCeremony
	}
	return was.Session, nil
}

// use notes that a ceremony came to a good end; false for one that had already.
func (c *ceremonies) use(state string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at, until := range c.used {
		if now.After(until) {
			delete(c.used, at)
		}
	}
	at := sha256.Sum256([]byte(state))
	if _, twice := c.used[at]; twice {
		return false
	}
	c.used[at] = now.Add(ceremonyLasts)
	return true
}
