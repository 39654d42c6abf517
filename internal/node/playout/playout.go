// Package playout runs the playout engine, Liquidsoap: it renders the engine's
// script, defines how to start it, sends it commands over its socket, and makes the
// emergency audio. It does not decide what plays next: the engine follows the playlist
// file and reports what is on air by track markers.
//
// It does not restart anything; node/supervise does.
package playout

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/secret"
)

// Options define what the engine plays and where it sends it.
type Options struct {
	// Dir holds script, socket and emergency audio: DATA/node.
	Dir string
	// SocketDir holds the command socket; Dir when empty. A socket's path may
	// not be longer than 107 bytes.
	SocketDir string
	// Channel is the channel's name and its Icecast mount; "main" when empty.
	Channel string
	// Playlist is the M3U file the engine watches.
	Playlist string
	// Password is the engine's own: Icecast takes it for the mount, and the live harbor from
	// whoever feeds it.
	Password string
	// Logins are the passwords that the harbor takes beside it, each until its time, or for
	// ever where that is zero. They may change while the engine runs; see PutSecrets.
	Logins []secret.Old
	// IcecastHost is "127.0.0.1" when empty.
	IcecastHost string
	IcecastPort int
	HarborPort  int
	// HarborBind is the address the live harbor listens on; loopback when empty.
	HarborBind string
	// MetadataURL receives the track markers (mission: POST /metadata).
	MetadataURL string
	// Token is sent with each marker as x-sync-token. It may change likewise.
	Token string
	// Station and Genre are shown to listeners, in any script.
	Station, Genre string
	// Emergency is the operator's own emergency audio. If it is empty or cannot be
	// played, the built-in one plays.
	Emergency string
	// FirstList is how long an engine without a single entry, as that of a new station is,
	// waits for its first list before it sends emergency audio; 8 s when zero. Nobody
	// listens yet, and the first that is heard should be a song.
	FirstList time.Duration
	// StreamTitles writes each title into the Ogg stream, for players that listen
	// to Icecast directly. Every title begins a new chain link, with a faint tick.
	StreamTitles bool
	// WholeLibrary loads all of Liquidsoap's standard library, for a changed script
	// that uses more of it. Every start then takes 1.6 s longer.
	WholeLibrary bool
	// Verbose logs every decision of the engine.
	Verbose bool
}

// Script is the path of the rendered script. It also identifies this station's engine
// among all processes.
func (o Options) Script() string { return filepath.Join(o.Dir, "main.liq") }

// PasswordFile is the path of the file that holds Password, mode 0600. The engine's start
// argument names it: every user of the machine can read arguments.
func (o Options) PasswordFile() string { return filepath.Join(o.Dir, "source.password") }

// TokenFile is the path of the file, mode 0600, from which the engine reads the token for
// each marker.
func (o Options) TokenFile() string { return filepath.Join(o.Dir, "sync.token") }

// LoginsFile is the path of the file, mode 0600, from which the engine reads at each login who
// may feed its harbor.
func (o Options) LoginsFile() string { return filepath.Join(o.Dir, "harbor.logins") }

// PutSecrets gives another token and other logins to the engine that runs. It fails with
// ErrOldScript where that was started by a version whose script holds them.
func PutSecrets(o Options) error {
	stale, err := o.writeSecrets()
	if err := errors.Join(stale, err); err != nil {
		return err
	}
	script, err := os.ReadFile(o.Script())
	if err == nil && !bytes.Contains(script, []byte(filepath.Base(o.LoginsFile()))) {
		return ErrOldScript
	}
	return nil
}

// writeSecrets writes what the engine reads again and again; stale is as of file.Refresh.
func (o Options) writeSecrets() (stale, err error) {
	staleToken, err := file.Refresh(o.TokenFile(), []byte(o.Token), 0o600)
	if err != nil {
		return nil, fmt.Errorf("write the engine's token: %w", err)
	}
	var lines strings.Builder // "SECONDS PASSWORD", of the epoch; 0: for ever
	for _, l := range o.Logins {
		if l.Text == "" {
			continue
		}
		until := int64(0)
		if !l.Until.IsZero() {
			until = l.Until.Unix()
		}
		fmt.Fprintf(&lines, "%d %s\n", until, l.Text)
	}
	staleLogins, err := file.Refresh(o.LoginsFile(), []byte(lines.String()), 0o600)
	if err != nil {
		return nil, fmt.Errorf("write the harbor's logins: %w", err)
	}
	return errors.Join(staleToken, staleLogins), nil
}

// ErrOldScript says that the engine that runs was started by a version that gave it its
// secrets once.
var ErrOldScript = errors.New("the playout engine was started by an earlier version and knows only the secrets of then: restart it before the old one ends")

// PlaceFile is where the engine records which entry of its list it has begun.
func (o Options) PlaceFile() string { return filepath.Join(o.Dir, "main.place") }

// StageFile is the path of the file that says what this node is to the station: see Stage.
func (o Options) StageFile() string { return filepath.Join(o.Dir, "main.stage") }

// Socket is the path of the engine's command socket.
func (o Options) Socket() string {
	return filepath.Join(cmp.Or(o.SocketDir, o.Dir), "playout.sock")
}

// EmergencyFile is the path of the built-in emergency audio.
func (o Options) EmergencyFile() string { return filepath.Join(o.Dir, "emergency.wav") }

func (o Options) emergencyFiles() []string {
	if o.Emergency == "" {
		return []string{o.EmergencyFile()}
	}
	return []string{o.Emergency, o.EmergencyFile()}
}

func (o Options) harborBind() string { return cmp.Or(o.HarborBind, "127.0.0.1") }

func (o Options) logLevel() int {
	if o.Verbose {
		return 4
	}
	return 3
}

// Spec returns how to start the engine with the script that is in place.
func Spec(o Options) proc.Spec {
	var args []string
	if o.libraries() != nil {
		args = append(args, "--no-stdlib")
	}
	return proc.Spec{
		Name: "liquidsoap",
		Path: "liquidsoap",
		Args: append(args, o.Script(), "--",
			cmp.Or(o.Channel, "main"), o.Playlist, o.PasswordFile(), cmp.Or(o.IcecastHost, "127.0.0.1"), strconv.Itoa(o.IcecastPort)),
		Dir:  o.Dir,
		Nice: proc.Air,
		// A kill after three seconds loses nothing.
		Grace: Grace,
	}
}

// Prepare writes what the engine reads (script, password, emergency audio) and removes a socket
// that an earlier engine left behind. It is safe to repeat.
func Prepare(_ context.Context, o Options) (proc.Spec, error) {
	script, err := Render(o)
	if err != nil {
		return proc.Spec{}, err
	}
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return proc.Spec{}, fmt.Errorf("make playout directory: %w", err)
	}
	stale, err := file.Refresh(o.Script(), script, 0o600)
	if err != nil {
		return proc.Spec{}, fmt.Errorf("write playout script: %w", err)
	}
	password, err := file.Refresh(o.PasswordFile(), []byte(o.Password), 0o600)
	if err != nil {
		return proc.Spec{}, fmt.Errorf("write the engine's password: %w", err)
	}
	shared, err := o.writeSecrets()
	if err != nil {
		return proc.Spec{}, err
	}
	// Without its emergency audio the engine has a chord still.
	quiet := ensureEmergency(o.EmergencyFile())
	if quiet != nil && !file.Full(quiet) {
		return proc.Spec{}, fmt.Errorf("write emergency audio: %w", quiet)
	}
	if err := os.Remove(o.Socket()); err != nil && !os.IsNotExist(err) {
		return proc.Spec{}, fmt.Errorf("remove stale command socket: %w", err)
	}
	spec := Spec(o)
	if err := errors.Join(stale, password, shared, quiet); err != nil {
		spec.Note = fmt.Sprintf("cannot write the engine's files: %v: free some space on the disk that holds %s", err, o.Dir)
	}
	return spec, nil
}
