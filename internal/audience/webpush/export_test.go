package webpush

// What the published vectors and tables are held against.
var (
	SealWith = sealWith
	Quiets   = quiet
	Plain    = clipped
)

// MostText is the longest plaintext, in bytes.
const MostText = mostText
