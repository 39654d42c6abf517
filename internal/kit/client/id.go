package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
)

// IDRule says in words what PlainID accepts.
const IDRule = "must be 8 to 64 of A-Z, a-z, 0-9, _ and -"

// PlainID reports whether an id is one that a client may make up, for its device
// or for a write of its own: see IDRule. It goes into keys and logs as it is.
func PlainID(id string) bool {
	if len(id) < 8 || len(id) > 64 {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// Repeatable reports whether a write, a JSON object, carries an id of its client's: it then
// counts once however often it arrives.
func Repeatable(write []byte) bool {
	var w struct {
		ID string `json:"id"`
	}
	return json.Unmarshal(write, &w) == nil && w.ID != ""
}

// Keyed is a hash of a text that means nothing without the salt, for tables that must not
// show who somebody is; texts of different kinds have different ones. Nil for an empty text.
func Keyed(salt []byte, kind, text string) []byte {
	if text == "" {
		return nil
	}
	h := hmac.New(sha256.New, salt)
	h.Write([]byte(kind + "\x00" + text))
	return h.Sum(nil)[:16]
}

// DeviceKey is a hash of a device's id, for tables that join what one device did: it is
// not the id, which its owner alone should know. Nil for an empty id.
func DeviceKey(device string) []byte {
	if device == "" {
		return nil
	}
	sum := sha256.Sum256([]byte("athir device\x00" + device))
	return sum[:]
}
