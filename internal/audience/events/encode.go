package events

import (
	"bytes"
	"encoding/json"
)

// Encode is json.Marshal without HTML escaping: no page is built from the result,
// and six bytes for each "<" could make a listener's text too long for the bus.
func Encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return out.Bytes()[:out.Len()-1], nil // without the encoder's newline
}
