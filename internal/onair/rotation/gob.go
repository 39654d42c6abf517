package rotation

import (
	"bytes"
	"encoding/gob"
)

// GobEncode keeps paths byte for byte, which JSON does not: a path may hold
// bytes that are no UTF-8.
func (h History) GobEncode() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(h.All())
	return b.Bytes(), err
}

// GobDecode reads what GobEncode writes.
func (h *History) GobDecode(data []byte) error {
	h.base, h.tail = nil, nil
	return gob.NewDecoder(bytes.NewReader(data)).Decode(&h.base)
}
