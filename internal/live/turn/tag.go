package turn

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// While a secret is rotated two hold, and the library asks for the one key of a user name
// before it compares. So a name that the server makes ends in a tag, which tells the secret
// that its password was made with, and nothing else about it: 32 bits of a keyed hash.

// tagMark stands before a tag.
const tagMark = "."

// Issue is Credentials for a server that may hold several secrets; the name may have 50
// letters.
func Issue(secret, name string, now time.Time) (username, password string) {
	username, password, _ = Credentials([]byte(secret), name+tagMark+tag(secret), now)
	return username, password
}

func tag(secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte("athir turn tag"))
	return hex.EncodeToString(mac.Sum(nil)[:4])
}

// secretOf is the secret, of those that hold, newest first, of a name's tag. A name without
// one of theirs is of an earlier version of this server, which knew the oldest.
func secretOf(valid []string, name string) string {
	if len(valid) == 0 {
		return ""
	}
	shown := name[strings.LastIndex(name, tagMark)+1:]
	for _, text := range valid {
		if shown == tag(text) {
			return text
		}
	}
	return valid[len(valid)-1]
}
