// Package live has the words of live broadcasting that the control plane and the
// broadcast node share: the stream record, what the control plane orders of the live
// desk, and what the desk reports.
//
// It decides nothing and touches nothing. The slices beneath this folder do:
//
//	registry/   streams that may be aired: kept, ranked (control plane)
//	takeover/   which of them is on the air, in memory only (control plane)
//	publisher/  who may go live, and when (control plane)
//	desk/       one bus for everything live, and its way to the engine (node)
//	record/     recordings of what was live (node)
//	whip/       a phone's microphone by WebRTC (node)
//	carts/      the cart wall: kept, and fired (control plane)
//	turn/       the way for phones behind narrow networks (node)
//	injection/  the studio's own microphone (control plane)
package live

import (
	"strings"
	"time"
)

// Stream is a live stream record (mission: Live stream record). Times are epoch
// milliseconds.
type Stream struct {
	ID         string `json:"id"`  // LIVE<hex8>
	URL        string `json:"url"` // pipe:PATH, source:MOUNT, rtmp://, http:// or https://
	Title      string `json:"title"`
	Creator    string `json:"creator"`
	Listeners  int    `json:"listeners"`
	Votes      int    `json:"votes"`
	Ingest     string `json:"ingest"` // rtmp, rtmp2, webrtc or pipe; normalized: pipe or rtmp
	AddedAt    int64  `json:"addedAt"`
	LastLiveAt int64  `json:"lastLiveAt"` // 0: never yet
}

// The schemes of a stream's address beside those of the network.
const (
	// PipeScheme begins the address of a WHIP pipe: the path of a FIFO of PCM follows,
	// signed 16 bit little endian, 48,000 Hz, stereo.
	PipeScheme = "pipe:"
	// SourceScheme begins the address of an encoder that sends to the desk itself, by
	// the Icecast protocol: its mount follows, "/sara".
	SourceScheme = "source:"
)

// Piped reports that an address is a pipe: the one that all phones have.
func Piped(url string) bool { return strings.HasPrefix(url, PipeScheme) }

// The format of the bus: every input becomes this.
const (
	Rate     = 48_000 // Hz
	Channels = 2
	// Tick is the bus's step.
	Tick = 20 * time.Millisecond
	// FrameSamples are the samples of one channel in a Tick, FrameBytes the bytes of
	// all as signed 16 bit.
	FrameSamples = Rate / 50
	FrameBytes   = FrameSamples * Channels * 2
)

// Mode is what a live source does to the rotation.
type Mode string

const (
	Replace Mode = "replace" // the rotation makes way
	Over    Mode = "over"    // talk-over: the rotation goes on, 12 dB lower
)

// Order is the whole of what the control plane wants of the desk; the newest holds.
type Order struct {
	// Number grows with every order of one control plane; Epoch names that one. An
	// order of the same epoch with a smaller number came late and is ignored.
	Epoch  string `json:"epoch"`
	Number uint64 `json:"number"`
	// Sent is when this was sent, epoch milliseconds by the clock of the control plane. The
	// desk counts Show.Until from it, as its own clock may be another; 0: it is the same.
	Sent int64 `json:"sent,omitempty"`
	// Air is the stream that should be on the air; nil: the rotation.
	Air  *Source `json:"air,omitempty"`
	Mode Mode    `json:"mode,omitempty"` // Replace when empty
	// Next are the streams that follow if Air fails, the best first.
	Next []Source `json:"next,omitempty"`
	// Show, when set, holds the air between sources.
	Show *Show `json:"show,omitempty"`
	// Why is the reason in words, for logs and reports: "stopped by the studio".
	Why string `json:"why,omitempty"`
}

// Source is a stream as the desk needs it.
type Source struct {
	ID      string `json:"id"`
	URL     string `json:"url"`
	Title   string `json:"title"`
	Creator string `json:"creator"`
}

// Show holds the air for a stated time, whoever comes and goes.
type Show struct {
	Title string `json:"title"`
	// Until is epoch milliseconds, by the clock of the control plane.
	Until int64 `json:"until"`
	// Bed is a file that plays while nobody speaks: its path on this machine, where the node is
	// here, else its path in the library. Empty: silence for five seconds, then the rotation
	// until the next source.
	Bed string `json:"bed,omitempty"`
}

// State is what a source at the desk is doing.
type State string

// The states of a source (docs/live.md has the table).
const (
	Connecting State = "connecting" // no audio has come yet
	Ready      State = "ready"      // audio comes; not on the air
	Waiting    State = "waiting"    // to go on the air with its first sound
	OnAir      State = "on air"
	Grace      State = "grace" // on the air, and nothing comes: silence fills the hole
	Gone       State = "gone"
)

// Report is what the desk tells. It is a snapshot.
type Report struct {
	// Version grows with every change worth waking up for; levels do not count.
	Version uint64 `json:"version"`
	// Epoch and Number are those of the newest order that was taken.
	Epoch  string `json:"epoch"`
	Number uint64 `json:"number"`
	// Air is the id of the source that the bus sends to the engine; empty: none is, and
	// the rotation is on the air. AirSince is when the bus was opened for it.
	Air      string         `json:"air,omitempty"`
	AirSince int64          `json:"airSince,omitempty"`
	Mode     Mode           `json:"mode,omitempty"`
	Harbor   bool           `json:"harbor"` // the engine takes the bus
	Sources  []SourceReport `json:"sources"`
	// Ended is how the last broadcast ended; nil before the first.
	Ended *Ending `json:"ended,omitempty"`
	// Recording is the recording under way.
	Recording *RecordingReport `json:"recording,omitempty"`
	// Carts are those of the cart wall.
	Carts CartReport `json:"carts"`
	// Counters since the desk began, for metrics.
	Counters Counters `json:"counters"`
}

// SourceReport is one source at the desk.
type SourceReport struct {
	ID      string `json:"id"`
	URL     string `json:"url"`
	Title   string `json:"title"`
	Creator string `json:"creator"`
	State   State  `json:"state"`
	Since   int64  `json:"since"` // of State
	// PeakDBFS is the highest sample of the last half second, -120 for none; LUFS the
	// short-term loudness as it came, GainDB what the rider adds.
	PeakDBFS float64 `json:"peakDbfs"`
	LUFS     float64 `json:"lufs"`
	GainDB   float64 `json:"gainDb"`
	// SilentMS is for how long it has been below -60 dBFS or nothing came.
	SilentMS   int64 `json:"silentMs"`
	BufferedMS int64 `json:"bufferedMs"`
	// Why says why it is in grace or gone, in words.
	Why string `json:"why,omitempty"`
}

// Ending is how a source left the air.
type Ending struct {
	ID  string `json:"id"`
	At  int64  `json:"at"`
	Why string `json:"why"`
	// Failed: it ended by itself; not stopped, handed over or replaced by order.
	Failed bool `json:"failed"`
	// Next is the source that followed without a break; empty: the rotation.
	Next string `json:"next,omitempty"`
}

// RecordingReport is the recording under way.
type RecordingReport struct {
	Name  string `json:"name"`
	Since int64  `json:"since"`
	Bytes int64  `json:"bytes"`
	// Problem says why it is not whole: the disk is full, say.
	Problem string `json:"problem,omitempty"`
}

// Counters count since the desk began.
type Counters struct {
	Broadcasts uint64 `json:"broadcasts"`
	Failovers  uint64 `json:"failovers"`
	// FilledMS is silence that filled holes while on the air.
	FilledMS uint64 `json:"filledMs"`
	// DroppedMS is audio dropped because it came too fast, TrimmedMS pauses that were
	// shortened to catch up.
	DroppedMS    uint64 `json:"droppedMs"`
	TrimmedMS    uint64 `json:"trimmedMs"`
	HarborBreaks uint64 `json:"harborBreaks"`
	Carts        uint64 `json:"carts"` // presses that were heard
}
