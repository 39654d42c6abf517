package people

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/station"
)

// KeyPrefix begins every key, so that scanners for leaked secrets know one.
const KeyPrefix = "athir_"

// Key is what a program of a user sends, as the API has it.
type Key struct {
	ID        string `json:"id"`
	User      string `json:"user"`
	Name      string `json:"name"`
	Role      Role   `json:"role"`  // what it may do, and never more than its user
	Until     int64  `json:"until"` // epoch milliseconds; 0: it has no end
	CreatedAt int64  `json:"createdAt"`
	UsedDay   int64  `json:"usedDay"` // days since 1970 (UTC); 0: never yet
	// Secret is the key; AddKey alone has it.
	Secret string `json:"secret,omitempty"` //nolint:gosec // it is what this is for
}

type key = Key

// AddKey makes a key of name, role and until for a user; the answer alone has it. Errors:
// station.ErrNotFound; station.ErrInvalid, naming the field; station.ErrConflict when there
// are too many.
func (p *People) AddKey(ctx context.Context, o Key) (Key, error) {
	k := Key{ID: newID(), User: o.User, Name: clean(o.Name), Role: o.Role, Until: o.Until, CreatedAt: p.now()}
	u, err := p.of(k.User)
	if err != nil {
		return Key{}, err
	}
	if k.Role == "" {
		k.Role = u.Role
	}
	switch err := k.Role.check(); {
	case err != nil:
		return Key{}, err
	case !u.Role.Rights().Has(k.Role.Rights()):
		return Key{}, station.Wrong("role", fmt.Sprintf("a key of a %s cannot have the rights of a %s", u.Role, k.Role), "لا يُمنح المفتاح أكثر مما لصاحبه")
	case k.Name == "" || utf8.RuneCountInString(k.Name) > longestName:
		return Key{}, station.Wrong("name", fmt.Sprintf("says what the key is for, in 1 to %d characters", longestName), "اكتب الغرض من هذا المفتاح")
	case k.Until != 0 && k.Until <= k.CreatedAt:
		return Key{}, station.Wrong("until", "is in the past", "تاريخ الانتهاء مضى")
	}
	secret := KeyPrefix + rand.Text() + rand.Text()
	hash := sha256.Sum256([]byte(secret))
	err = p.change(ctx, func(tx *sql.Tx) error {
		if n := len(p.keysOf(k.User)); n >= mostKeys {
			return tooMany(mostKeys, "keys of this user", "مفتاحًا لهذا المستخدم")
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO people_keys (id, user, name, role, hash, until, created, used) VALUES (?, ?, ?, ?, ?, ?, ?, 0)`,
			k.ID, k.User, k.Name, string(k.Role), hash[:], k.Until, k.CreatedAt)
		return err
	})
	if err != nil {
		return Key{}, err
	}
	p.opt.Log.Info("key added", "key", k.ID, "user", k.User, "role", k.Role)
	k.Secret = secret
	return k, nil
}

// Keys are a user's, the oldest first. Errors: station.ErrNotFound.
func (p *People) Keys(id string) ([]Key, error) {
	if _, err := p.of(id); err != nil {
		return nil, err
	}
	return p.keysOf(id), nil
}

func (p *People) keysOf(id string) []Key {
	out := []Key{}
	for _, k := range p.all.Load().keys {
		if k.User == id {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b Key) int {
		if a.CreatedAt != b.CreatedAt {
			return int(min(max(a.CreatedAt-b.CreatedAt, -1), 1))
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out
}

// RevokeKey ends a key of a user. Errors: station.ErrNotFound.
func (p *People) RevokeKey(ctx context.Context, id, key string) error {
	err := p.remove(ctx, `DELETE FROM people_keys WHERE user = ? AND id = ?`, "key", id, key)
	if err == nil {
		p.opt.Log.Info("key revoked", "key", key, "user", id)
	}
	return err
}

// IsKey reports whether a text has the form of a user's key.
func IsKey(text string) bool { return strings.HasPrefix(text, KeyPrefix) }

// ByKey is whose key this is; false for none that holds.
func (p *People) ByKey(secret string) (Caller, bool) {
	all := p.all.Load()
	k, ok := all.keys[sha256.Sum256([]byte(secret))]
	if !ok {
		return Caller{}, false
	}
	return p.callerBy(all, k)
}

func (p *People) callerBy(all *everybody, k key) (Caller, bool) {
	u, known := all.byID[k.User]
	if !known || u.Locked || k.Until != 0 && p.now() >= k.Until {
		return Caller{}, false
	}
	return Caller{
		User: u.ID, Name: u.Name, Rights: u.Role.Rights() & k.Role.Rights(), Way: ByKey, Of: k.ID, stale: k.UsedDay < day(p.opt.Now()),
	}, true
}
