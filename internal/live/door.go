package live

// The words between the node's processes, which meet presenters, and the control
// plane, which knows them.

// Protocol is how a presenter's audio comes in.
type Protocol string

const (
	WHIP     Protocol = "whip"   // a phone or browser
	Icecast  Protocol = "source" // an encoder, to the desk itself
	RTMP     Protocol = "rtmp"
	Internal Protocol = "studio" // the studio's own microphone
)

// Credentials are what somebody who wants to go live shows.
type Credentials struct {
	Protocol Protocol `json:"protocol"`
	User     string   `json:"user"`
	Secret   string   `json:"secret"` //nolint:gosec // it is what this is for
	Mount    string   `json:"mount,omitempty"`
	Title    string   `json:"title,omitempty"`
	Address  string   `json:"address,omitempty"` // the client's, for limits and the log
	// Again: it was let in with these, sends, and is asked about once more.
	Again bool `json:"again,omitempty"`
	// Look: it only wants to know whose key it has, and asks for nothing.
	Look bool `json:"look,omitempty"`
}

// Admission answers Credentials.
type Admission struct {
	Allowed bool `json:"allowed"`
	// Code says why not: unknown, revoked, early, late, limited.
	Code   string `json:"code,omitempty"`
	Detail string `json:"detail,omitempty"`
	// RetryAt is when it may be allowed, epoch milliseconds; 0: that is not known.
	RetryAt int64 `json:"retryAt,omitempty"`
	// Now is when this was answered, by the clock that RetryAt is of: whoever counts down to
	// that may have another. 0: that is not known.
	Now       int64     `json:"now,omitempty"`
	Publisher Presenter `json:"publisher"`
}

// Presenter is somebody who may go live.
type Presenter struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Show  string `json:"show"`
	Until int64  `json:"until,omitempty"` // epoch milliseconds; 0: open
	Auto  bool   `json:"auto"`            // takes the air without the studio
}

// Arrival is a new audio track of a presenter.
type Arrival struct {
	Protocol  Protocol `json:"protocol"`
	URL       string   `json:"url"`
	Title     string   `json:"title"`
	Creator   string   `json:"creator"`
	Publisher string   `json:"publisher"`
	Session   string   `json:"session"`
	// Push: a phone's presenter wants the listeners who asked for it to be notified.
	Push bool `json:"push,omitempty"`
}

// Leaving is its end.
type Leaving struct {
	ID        string `json:"id"` // of the stream
	Publisher string `json:"publisher"`
	Session   string `json:"session"`
	Why       string `json:"why"` // in words, for the log
	// Broke: the connection broke, and may be back in a moment. Otherwise somebody ended it.
	Broke bool `json:"broke,omitempty"`
}

// Encoder is an encoder that is connected, as the studio sees it. Times are epoch milliseconds.
type Encoder struct {
	Session   string   `json:"session"`
	Stream    string   `json:"stream"` // its id
	Protocol  Protocol `json:"protocol" enum:"source,rtmp"`
	Publisher string   `json:"publisher"` // empty: it came with the station's password
	Name      string   `json:"name"`
	Since     int64    `json:"since"`
	HeldUntil int64    `json:"heldUntil" doc:"Until when it does not take the air by itself, as the studio stopped or disconnected it, or it came and went; 0: it is not held"`
}

// MostOwned is how many streams one account has in the registry. Without a bound one account
// could send to one mount after another until nobody else is taken in.
const MostOwned = 8

// MostSenders bounds a roll: the node takes in fewer.
const MostSenders = 512

// Roll is all that one part of the node takes in now. It is sent every few seconds, so that
// who missed an Arrival or a Leaving learns of it.
type Roll struct {
	// Protocol is RTMP for the relay and Icecast for the desk, whose roll has the studio's
	// microphone too.
	Protocol Protocol  `json:"protocol" enum:"rtmp,source"`
	Senders  []Arrival `json:"senders" maxItems:"512"`
}

// Has reports whether senders of a protocol are in the roll.
func (r Roll) Has(p Protocol) bool { return p == r.Protocol || p == Internal && r.Protocol == Icecast }

// RollAnswer answers a Roll. Both are by session.
type RollAnswer struct {
	Streams map[string]string `json:"streams" doc:"Ids of the streams of those that are known"`
	Refused map[string]string `json:"refused" doc:"Why the others may not send, in words"`
}

// Facts are what a presenter's page shows. Times are epoch milliseconds by the control
// plane's clock.
type Facts struct {
	Allowed bool   `json:"allowed"`
	Code    string `json:"code,omitempty"`
	Detail  string `json:"detail,omitempty"`
	// Auto: the presenter may take the air now without the studio.
	Auto bool `json:"auto"`
	// State of the presenter's stream: off, connecting, waiting, called, on air, grace, taken
	// back or held. It is on air only when the engine itself says so.
	State string `json:"state"`
	Since int64  `json:"since"`
	// Called: while the state is called, the studio has put it on the air; otherwise it took
	// the air by itself. FreeAt is from when it may do that again; 0: it is not kept from it.
	Called    bool         `json:"called"`
	FreeAt    int64        `json:"freeAt"`
	OnAir     FactsAir     `json:"onAir"`
	Next      []FactsTrack `json:"next"`
	Listeners int          `json:"listeners"`
	WrapUpAt  int64        `json:"wrapUpAt"`
	Until     int64        `json:"until"`
	TakenBy   string       `json:"takenBy"`
	Now       int64        `json:"now"`
}

// FactsAir is what is heard now.
type FactsAir struct {
	Title  string `json:"title"`
	Artist string `json:"artist"`
	Kind   string `json:"kind"` // rotation, live or emergency
}

// FactsTrack is what comes next.
type FactsTrack struct {
	Title  string `json:"title"`
	Artist string `json:"artist"`
}

// Session is one phone at the WHIP server.
type Session struct {
	ID        string  `json:"id"`
	Publisher string  `json:"publisher"`
	Name      string  `json:"name"`
	Title     string  `json:"title"`
	State     string  `json:"state"`
	Holds     bool    `json:"holds"` // its sound goes to the pipe
	Since     int64   `json:"since"`
	Muted     bool    `json:"muted"`
	RTTMS     float64 `json:"rttMs"`
	JitterMS  float64 `json:"jitterMs"`
	LossPct   float64 `json:"lossPct"`
	Packets   uint64  `json:"packets"`
	Lost      uint64  `json:"lost"`
	Frames    uint64  `json:"frames"`
	Concealed uint64  `json:"concealed"`
	PeakDBFS  float64 `json:"peakDbfs"`
	Relayed   bool    `json:"relayed"`
}

// RelayReport is the TURN server in figures. Counts run since its start.
type RelayReport struct {
	Allocations int    `json:"allocations"` // now
	Connections int    `json:"connections"` // TCP and TLS, now
	Allocated   uint64 `json:"allocated"`   // made
	OverQuota   uint64 `json:"overQuota"`   // refused because a quota was used up
	Ousted      uint64 `json:"ousted"`      // ended for their age, for relaying nothing, or for another's then
	Refused     uint64 `json:"refused"`     // credentials that are malformed, expired or wrong
	Limited     uint64 `json:"limited"`     // beyond the rate or number of an address
	Forbidden   uint64 `json:"forbidden"`   // to or from what is not the media
	Dropped     uint64 `json:"dropped"`     // what is no message, or of no allocation
	BytesUp     uint64 `json:"bytesUp"`     // relayed to the media
	BytesDown   uint64 `json:"bytesDown"`   // relayed from it
}
