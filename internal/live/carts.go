package live

import "encoding/base64"

// LongestCartMS is how long one cart is at most; what follows in a file is not heard.
const LongestCartMS = 60_000

// MostCarts is how many carts a wall has at most.
const MostCarts = 160

// Path is a path of any bytes: JSON has it in base64, as it would replace what is no UTF-8.
type Path string

// MarshalText implements encoding.TextMarshaler.
func (p Path) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, []byte(p)), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Path) UnmarshalText(text []byte) error {
	raw, err := base64.RawURLEncoding.AppendDecode(nil, text)
	*p = Path(raw)
	return err
}

// Cart is a place of the cart wall as the desk plays it.
type Cart struct {
	Page int `json:"page"` // from 0
	Slot int `json:"slot"`
	// File is as Show.Bed: a path on this machine, where the node is here, else in the library.
	File Path `json:"file"`
	// Stamp tells what the file holds from what it held before.
	Stamp  string  `json:"stamp,omitempty"`
	GainDB float64 `json:"gainDb,omitempty"`
	Loop   bool    `json:"loop,omitempty"`
	// DurationMS is the length as the library knows it; 0: it does not.
	DurationMS int64 `json:"durationMs,omitempty"`
}

// Wall is what the desk should have in hand while something is live. Mark names it.
type Wall struct {
	Mark  string `json:"mark"`
	Carts []Cart `json:"carts"` // those that matter most come first
}

// CartPress is one press of a cart's button.
type CartPress struct {
	Cart
	// Request names the press: one that comes twice by it is heard once. Empty: it has no name.
	Request string `json:"request,omitempty"`
}

// CartPlaying is a cart that is heard. Times are epoch milliseconds.
type CartPlaying struct {
	ID         string `json:"id"`
	Page       int    `json:"page"`
	Slot       int    `json:"slot"`
	StartedAt  int64  `json:"startedAt"`
	DurationMS int64  `json:"durationMs"` // of one round
	PositionMS int64  `json:"positionMs"`
	Loop       bool   `json:"loop"`
}

// CartReport is what the desk tells of the wall.
type CartReport struct {
	// Open: the bus is on its way to listeners, so carts are heard.
	Open bool `json:"open"`
	// Mark is that of the newest Wall that was taken.
	Mark    string        `json:"mark,omitempty"`
	Playing []CartPlaying `json:"playing,omitempty"`
	// Ready is how many carts are in hand.
	Ready int `json:"ready,omitempty"`
	// Broken are carts that cannot be played, and why.
	Broken []BrokenCart `json:"broken,omitempty"`
}

// BrokenCart is a cart that cannot be played.
type BrokenCart struct {
	Page int    `json:"page"`
	Slot int    `json:"slot"`
	Why  string `json:"why"`
}
