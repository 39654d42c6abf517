package webpush

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
)

const (
	// signedFor is how long a signature is valid; RFC 8292 allows 24 h. It is renewed
	// after half of that: push services want it reused, not made for each message.
	signedFor = 12 * time.Hour
	// mostOrigins bounds the cached signatures, and the pauses of services.
	mostOrigins = 1000
)

// voucher signs for the station at push services (VAPID, RFC 8292).
type voucher struct {
	key     *ecdsa.PrivateKey
	public  string // base64url
	subject string // mailto: or https:; left out when empty
	now     func() time.Time

	mu    sync.Mutex
	ready map[string]signed // by origin
}

type signed struct {
	header string
	until  time.Time
}

// openVoucher reads the station's key, and creates it at the first start.
func openVoucher(ctx context.Context, db *store.DB, subject string, now func() time.Time) (*voucher, error) {
	var raw []byte
	err := db.Write(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT private FROM push_key`).Scan(&raw)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		if raw, err = key.Bytes(); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO push_key VALUES (1, ?)`, raw)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open push key: %w", err)
	}
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
	if err != nil {
		return nil, fmt.Errorf("parse push key: %w", err)
	}
	public, err := key.PublicKey.Bytes()
	if err != nil {
		return nil, fmt.Errorf("encode push key: %w", err)
	}
	return &voucher{key: key, public: base64.RawURLEncoding.EncodeToString(public), subject: subject, now: now, ready: map[string]signed{}}, nil
}

// header returns the Authorization header for an endpoint.
func (v *voucher) header(endpoint string) (string, error) {
	origin, err := originOf(endpoint)
	if err != nil {
		return "", err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	if s, ok := v.ready[origin]; ok && now.Before(s.until) {
		return s.header, nil
	}
	token, err := v.token(origin, now)
	if err != nil {
		return "", err
	}
	if len(v.ready) >= mostOrigins {
		clear(v.ready)
	}
	s := signed{"vapid t=" + token + ", k=" + v.public, now.Add(signedFor / 2)}
	v.ready[origin] = s
	return s.header, nil
}

// token returns a JSON Web Token signed with ES256 (RFC 7515, RFC 7518).
func (v *voucher) token(origin string, now time.Time) (string, error) {
	claims, err := json.Marshal(struct {
		Audience string `json:"aud"`
		Expires  int64  `json:"exp"`
		Subject  string `json:"sub,omitempty"`
	}{origin, now.Add(signedFor).Unix(), v.subject})
	if err != nil {
		return "", err
	}
	enc := base64.RawURLEncoding
	text := enc.EncodeToString([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + enc.EncodeToString(claims)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, v.key, sum[:])
	if err != nil {
		return "", err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return text + "." + enc.EncodeToString(signature), nil
}

func originOf(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", err
	}
	return u.Scheme + "://" + u.Host, nil
}
