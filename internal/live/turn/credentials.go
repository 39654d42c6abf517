package turn

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // what TURN's REST credentials are made with (mission: TURN for the mobile live page)
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

const (
	// Lifetime is how long a credential opens new allocations. It is the same for all,
	// because the expiry in the user name tells when it was issued, and so the epoch.
	Lifetime = 6 * time.Hour
	// Rotation is how long a secret is used for new credentials (mission: rotated every
	// 12 hours).
	Rotation = 12 * time.Hour
	// Grace is how long past its expiry a credential keeps an allocation that it opened
	// alive: a long show lives through a rotation.
	Grace = 12 * time.Hour
	// skew is by how much the clock of who issued a credential may be ahead.
	skew = 5 * time.Minute
	// longestName bounds the name in a user name, which as a whole may have 508 bytes
	// (RFC 8489, 14.3).
	longestName = 64
)

// Credentials mints what a phone shows to the TURN server. It is valid from now for
// Lifetime, for who holds the same secret, and nothing about it is stored:
//
//	expires  = now + 6 h, in whole seconds
//	username = decimal(expires) ":" name
//	epoch    = ⌊(expires − 6 h) / 12 h⌋, counted from 1970
//	key      = HMAC-SHA256(secret, decimal(epoch))        a new one every 12 hours
//	password = base64(HMAC-SHA1(key, username))           RFC 4648 with padding
//
// So the user name alone tells the key, and when a new epoch begins the credentials of
// the one before it are good for 6 hours more. As a vector: the secret "north", the
// name "sara" and 2026-03-01T10:00:00Z give epoch 41026, the user name
// "1772380800:sara" and the password "dP2uXeHAVZRrFVaE4jKjf5O5oxw=".
//
// A name is at most 64 letters, digits, dots, hyphens and underscores; what else is in it
// becomes an underscore. Name is what quotas count by.
func Credentials(secret []byte, name string, now time.Time) (username, password string, expires time.Time) {
	expires = now.Add(Lifetime).Truncate(time.Second)
	username = strconv.FormatInt(expires.Unix(), 10) + ":" + plainName(name)
	return username, sign(epochKey(secret, epochOf(expires)), username), expires
}

// Check is the password that belongs to a user name, if that may open an allocation now:
// station.ErrForbidden if it is malformed, expired, or from the future. Whoever compares a
// password with it does so in constant time; the server compares no passwords, but the
// keyed hash of each message, in constant time likewise (stun.MessageIntegrity).
func Check(secret []byte, username string, now time.Time) (password string, err error) {
	u, err := parseUser(username)
	if err != nil {
		return "", err
	}
	if !mayOpen(u.expires, now) {
		return "", fmt.Errorf("TURN credential of %q is good until %s: %w: ask /whip-info for a new one",
			u.name, u.expires.UTC().Format(time.RFC3339), station.ErrForbidden)
	}
	return sign(epochKey(secret, epochOf(u.expires)), username), nil
}

// mayOpen reports whether a credential that expires then opens an allocation now.
func mayOpen(expires, now time.Time) bool {
	return now.Before(expires) && !expires.After(now.Add(Lifetime+skew))
}

// mayKeep reports whether it keeps one that it opened.
func mayKeep(expires, now time.Time) bool {
	return now.Before(expires.Add(Grace)) && !expires.After(now.Add(Lifetime+skew))
}

// user is what a user name says.
type user struct {
	expires time.Time
	name    string
}

// parseUser reads a user name as Credentials writes it, and no other.
func parseUser(username string) (user, error) {
	digits, name, found := strings.Cut(username, ":")
	seconds, err := strconv.ParseInt(digits, 10, 64)
	// No year beyond 9999, so that sums with it do not overflow.
	if !found || err != nil || seconds < 0 || seconds > 253402300799 ||
		strconv.FormatInt(seconds, 10) != digits || name == "" || plainName(name) != name {
		return user{}, fmt.Errorf("TURN user name: want EXPIRY:NAME as /whip-info has it: %w", station.ErrForbidden)
	}
	return user{time.Unix(seconds, 0), name}, nil
}

// plainName makes a name fit for a user name, a log and a map of quotas.
func plainName(name string) string {
	if len(name) > longestName {
		name = name[:longestName]
	}
	if name == "" {
		return "_"
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
}

// publisherMark begins the names of publishers' credentials; a name is signed like the rest.
const publisherMark = "publisher-"

func ofPublisher(name string) bool { return strings.HasPrefix(name, publisherMark) }

// epochOf is the epoch in which a credential was issued.
func epochOf(expires time.Time) int64 {
	issued, length := expires.Add(-Lifetime).Unix(), int64(Rotation/time.Second)
	epoch := issued / length
	if issued%length < 0 { // Go rounds towards zero
		epoch--
	}
	return epoch
}

// epochKey is the secret of an epoch.
func epochKey(secret []byte, epoch int64) []byte {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write(strconv.AppendInt(nil, epoch, 10))
	return mac.Sum(nil)
}

// sign is the password of a user name under a key; with an operator's own secret as the
// key it is that of coturn's static-auth-secret.
func sign(key []byte, username string) string {
	mac := hmac.New(sha1.New, key)
	_, _ = mac.Write([]byte(username))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
