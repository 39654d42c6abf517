package events

import (
	"bytes"
	"encoding/json"
)

// Encode is json.Marshal without its care for HTML pages: none of ours is made
// of it, and six bytes for each "<" would make of what a listener may send
// something that the bus does not carry.
func Encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return out.Bytes()[:out.Len()-1], nil // without the encoder's newline
}
