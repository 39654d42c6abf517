package playout

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/station"
)

// Program is the engine's name among a node's programs.
const Program = "liquidsoap"

// Grace is how long it may take to end.
const Grace = 3 * time.Second

// Engine is the playout engine, on this machine or another. Client documents its
// methods.
type Engine interface {
	Status(ctx context.Context) (Status, error)
	Skip(ctx context.Context) error
	SkipFrom(ctx context.Context, entered int) error
	DropPrefetched(ctx context.Context) error
	Reload(ctx context.Context) error
	Rewatch(ctx context.Context) error
	DisconnectLive(ctx context.Context) error
	Emergency(ctx context.Context, on bool) error
}

// Client talks to a running engine over its command socket. Each call ends after
// Timeout at the latest. While the engine is away every method returns an error that
// wraps station.ErrUnavailable.
type Client struct {
	Socket string
	// Timeout of one command and its answer; 0 is commandTimeout.
	Timeout time.Duration
}

// commandTimeout is for the air: who presses a button is told within that time.
const commandTimeout = 5 * time.Second

// Status is the engine's report.
type Status struct {
	Engine string        // id of this run of the engine
	Uptime time.Duration // since the script began
	// OnAir is "rotation", "live", "emergency", or "" before the first sound.
	OnAir string
	// LiveConnected: an encoder is connected to the harbor, on air or about to be.
	LiveConnected bool
	// OverConnected: an encoder is connected to the harbor's mount for talk-over. It
	// changes nothing of OnAir.
	OverConnected bool
	// Remaining is what is left of the entry on air; -1 if it is unknown.
	Remaining time.Duration
	// Prepared are the files opened ahead, next first.
	Prepared []string
	// Edition counts how often the playlist file was read; Entries is how many
	// tracks it had the last time.
	Edition, Entries int
	// Entered counts the entries that have begun, or that a cross has begun to read.
	Entered int
	// Entering is the file of the last of them. Its marker may be two seconds away.
	Entering string
	// PendingMarkers counts markers that the control plane has not answered.
	PendingMarkers int
	// Last is the last track marker, sent or not; nil before the first.
	Last *Marker
}

// Status asks what is on air.
func (c Client) Status(ctx context.Context) (Status, error) {
	line, err := c.command(ctx, "athir.status")
	if err != nil {
		return Status{}, err
	}
	var raw struct {
		Engine    string   `json:"engine"`
		Uptime    float64  `json:"uptime"`
		OnAir     string   `json:"on_air"`
		Live      bool     `json:"live"`
		Over      bool     `json:"over"`
		Remaining *float64 `json:"remaining"`
		Prepared  [][]byte `json:"prepared_b64"`
		Edition   int      `json:"edition"`
		Entries   int      `json:"entries"`
		Entered   int      `json:"entered"`
		Entering  []byte   `json:"entering_b64"`
		Pending   int      `json:"pending_markers"`
		Last      *Marker  `json:"last"`
	}
	if err := json.Unmarshal(line, &raw); err != nil {
		return Status{}, fmt.Errorf("decode engine status: %w", err)
	}
	s := Status{
		Engine: raw.Engine, Uptime: seconds(raw.Uptime), OnAir: raw.OnAir, LiveConnected: raw.Live, OverConnected: raw.Over,
		Remaining: -1, Edition: raw.Edition, Entries: raw.Entries, Entered: raw.Entered, Entering: string(raw.Entering), PendingMarkers: raw.Pending, Last: raw.Last,
	}
	if raw.Remaining != nil {
		s.Remaining = seconds(*raw.Remaining)
	}
	for _, file := range raw.Prepared {
		s.Prepared = append(s.Prepared, string(file))
	}
	return s, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Skip goes to the next entry at once, with a short cross. While a live source or the
// emergency audio is on air it fails with station.ErrConflict.
func (c Client) Skip(ctx context.Context) error { return c.do(ctx, "athir.skip") }

// SkipFrom skips only if no entry has begun since Status reported entered: if the
// entry ended just before the skip, the skip would cut off the next one.
func (c Client) SkipFrom(ctx context.Context, entered int) error {
	return c.do(ctx, fmt.Sprintf("athir.skip %d", entered))
}

// DropPrefetched makes the engine drop the entries it has opened ahead and go on with
// those after them. Reading a new playlist does this, too.
func (c Client) DropPrefetched(ctx context.Context) error { return c.do(ctx, "athir.drop") }

// Reload makes the engine read the playlist file again, from its head. A write to the
// file does this, too.
func (c Client) Reload(ctx context.Context) error { return c.do(ctx, "athir.reload") }

// Rewatch makes the engine watch the file that has the playlist's name now, and read it
// if it is another list: an engine watches a file, not its name, and misses what is
// written into one that took its place.
func (c Client) Rewatch(ctx context.Context) error { return c.do(ctx, "athir.rewatch") }

// DisconnectLive cuts the live encoder off, and that of the talk-over. What they have sent
// is heard, some 0.3 s; then the engine returns to the rotation.
func (c Client) DisconnectLive(ctx context.Context) error { return c.do(ctx, "athir.disconnect") }

// Emergency puts the emergency audio on air instead of the rotation, or ends it: the
// rotation then goes on with its next entry. A live source has precedence. A restarted
// engine plays the rotation.
func (c Client) Emergency(ctx context.Context, on bool) error {
	if on {
		return c.do(ctx, "athir.emergency on")
	}
	return c.do(ctx, "athir.emergency off")
}

func (c Client) do(ctx context.Context, command string) error {
	line, err := c.command(ctx, command)
	if err != nil {
		return err
	}
	var answer struct {
		OK   bool   `json:"ok"`
		What string `json:"what"`
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return fmt.Errorf("decode engine answer to %s: %w", command, err)
	}
	if !answer.OK {
		return fmt.Errorf("%s: %s: %w", command, answer.What, station.ErrConflict)
	}
	return nil
}

// command sends one command and returns its one-line answer.
func (c Client) command(ctx context.Context, command string) ([]byte, error) {
	if len(c.Socket) > maxSocketPath {
		return nil, fmt.Errorf("the command socket's path has %d bytes and Linux allows %d: %s", len(c.Socket), maxSocketPath, c.Socket)
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Timeout, commandTimeout))
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", c.Socket)
	if err != nil {
		return nil, away(ctx, err)
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := fmt.Fprintf(conn, "%s\nquit\n", command); err != nil {
		return nil, away(ctx, err)
	}
	// The line END ends the answer; the JSON before it is one line.
	lines := bufio.NewReader(conn)
	answer, err := lines.ReadBytes('\n')
	if err != nil {
		return nil, away(ctx, err)
	}
	answer = bytes.TrimSpace(answer)
	if !bytes.HasPrefix(answer, []byte("{")) {
		return nil, fmt.Errorf("engine answered %s with %q: %w", command, answer, station.ErrUnavailable)
	}
	return answer, nil
}

// away returns context.Canceled if the caller gave up, otherwise an error that wraps
// station.ErrUnavailable.
func away(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return context.Canceled
	}
	return fmt.Errorf("playout engine: %w: %w", station.ErrUnavailable, err)
}

// Ready returns nil once the engine plays something and answers commands.
func Ready(ctx context.Context, o Options) error {
	s, err := Client{Socket: o.Socket()}.Status(ctx)
	if err != nil {
		return err
	}
	if s.OnAir == "" {
		return fmt.Errorf("playout engine: nothing on air yet: %w", station.ErrUnavailable)
	}
	return nil
}

// Find lists the engines that run this station's script, whoever started them.
func Find(o Options) []int { return proc.Find("liquidsoap", o.Script()) }

// Kinds of marker.
const (
	KindRotation  = "rotation"  // an entry of the playlist began
	KindLive      = "live"      // a live source took over, or sent a new title
	KindEmergency = "emergency" // nothing could be played: the emergency audio began
)

// Marker is the track marker: what began on air, and when. The engine POSTs one for
// each start, in order, and repeats it until it is answered.
type Marker struct {
	Channel string `json:"channel"`
	// Engine is the id of the engine's run and Seq counts its markers from 1:
	// together they distinguish a repeated marker from a repeated track.
	Engine string `json:"engine"`
	Seq    int64  `json:"seq"`
	// Fence is that by which the node had the station as this began; 0: none.
	Fence uint64 `json:"fence"`
	Kind  string `json:"kind"`
	// File is the exact absolute path that was played; empty for live.
	File string `json:"-"`
	// Title and Artist are the file's own tags, valid UTF-8.
	Title  string `json:"title"`
	Artist string `json:"artist"`
	// Type is the playlist's annotation; empty for music.
	Type      string `json:"type"`
	StartedAt int64  `json:"started_at"` // epoch milliseconds
}

// UnmarshalJSON reads a marker as the engine writes it. It has the path twice: as text
// for people, and in base64 because a path may hold bytes that are no text. A marker
// from another source may have only the text.
func (m *Marker) UnmarshalJSON(b []byte) error {
	type plain Marker
	raw := struct {
		*plain
		File   string `json:"file"`
		Base64 string `json:"file_b64"`
	}{plain: (*plain)(m)}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	m.File = raw.File
	if raw.Base64 != "" {
		file, err := base64.StdEncoding.DecodeString(raw.Base64)
		if err != nil {
			return fmt.Errorf("decode file_b64: %w", err)
		}
		m.File = string(file)
	}
	m.Title, m.Artist = strings.TrimSpace(m.Title), strings.TrimSpace(m.Artist)
	return nil
}
