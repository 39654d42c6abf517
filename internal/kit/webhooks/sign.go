package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/station"
)

const (
	secretMark  = "whsec_"
	secretBytes = 32
)

// newSecret makes the secret of a hook.
func newSecret() []byte {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // never fails: it ends the program instead
	return key
}

// showSecret writes a secret as the specification has it.
func showSecret(key []byte) string { return secretMark + base64.StdEncoding.EncodeToString(key) }

// readSecret is the inverse of showSecret: 24 to 64 bytes.
func readSecret(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, secretMark))
	if err != nil || !strings.HasPrefix(text, secretMark) || len(key) < 24 || len(key) > 64 {
		return nil, fmt.Errorf("secret: must be whsec_ and 24 to 64 bytes in base64: %w", station.ErrInvalid)
	}
	return key, nil
}

// sign returns one signature of an attempt at the time at, in epoch seconds.
func sign(secret []byte, id string, at int64, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(id + "." + strconv.FormatInt(at, 10) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// signatures are those of every secret that is in force.
func (k *hook) signatures(id string, millis int64, body []byte) string {
	out := sign(k.secret, id, millis/1000, body)
	if len(k.former) > 0 && millis < k.formerUntil {
		out += " " + sign(k.former, id, millis/1000, body)
	}
	return out
}
