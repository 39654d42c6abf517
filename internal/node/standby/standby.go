// Package standby feeds the streaming server's standby mount: a quiet loop that
// listeners hear while the playout engine's stream is gone. Icecast moves them
// there and back, and they stay connected.
//
// Icecast would serve a file of its own as fallback, but sends it as fast as a
// listener takes it (three times too fast, measured with 2.4.4): every player
// would lag behind ever after. This loop comes in real time.
//
// It decodes nothing, and runs until its context ends.
package standby

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/port"
	"github.com/athir-radio/athir/internal/kit/proc"
)

// Mark is a comment in our Ogg stream that tells it from the programme. (Icecast
// gives a stream pages and a serial number of its own.)
const Mark = "ATHIR=standby"

const serial = 1

const (
	retry     = time.Second
	writeTime = 5 * time.Second
	// lead is how far ahead of the clock pages are sent.
	lead = 300 * time.Millisecond
	// atMost is how much of a long file is used.
	atMost = 10 * time.Minute
	// encodeWithin is how long the encoder may take: half a minute on a machine with eight
	// busy loops. One that hangs is ended, and another begins.
	encodeWithin = 5 * time.Minute
)

// Options of Run. All are required but Begin and EncodeWithin.
type Options struct {
	Log *slog.Logger
	// Dir keeps the encoded loop.
	Dir string
	// Files are the audio to choose from: the first that can be encoded.
	Files []string
	// Port of the streaming server on this machine.
	Port     int
	Mount    string // with its slash
	Password string
	// Begin, when not nil, is called first and returns when the feed may start.
	Begin func(ctx context.Context)
	// EncodeWithin bounds the encoding of a file; five minutes when zero.
	EncodeWithin time.Duration
}

// Run feeds the mount until ctx ends. Faults are logged and retried.
func Run(ctx context.Context, o Options) error {
	if o.Begin != nil {
		o.Begin(ctx)
	}
	logged := ""
	for ctx.Err() == nil {
		err := feed(ctx, o)
		if ctx.Err() != nil {
			break
		}
		if err.Error() != logged {
			logged = err.Error()
			o.Log.Warn("cannot send standby audio to the streaming server, retrying", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
	return nil
}

// feed connects and sends the loop until that fails.
func feed(ctx context.Context, o Options) error {
	l, err := o.loop(ctx)
	if err != nil {
		return err
	}
	// A connection while Icecast starts can crash it.
	if !port.Listening(o.Port) {
		return fmt.Errorf("the streaming server does not listen on port %d", o.Port)
	}
	conn, err := (&net.Dialer{Timeout: writeTime}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return fmt.Errorf("connect standby audio: %w", err)
	}
	defer conn.Close() //nolint:errcheck // nothing is lost
	return o.send(ctx, conn, l)
}

// send gives the loop to the streaming server in real time, until it fails.
func (o Options) send(ctx context.Context, conn net.Conn, l *loop) error {
	if err := o.login(conn); err != nil {
		return fmt.Errorf("connect standby audio: %w", err)
	}
	o.Log.Debug("standby audio connected", "mount", o.Mount)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	begin := time.Now()
	for at, page := range l.pages(serial) {
		if wait := at - lead - time.Since(begin); wait > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(wait):
			}
		}
		_ = conn.SetWriteDeadline(time.Now().Add(writeTime))
		if _, err := conn.Write(page); err != nil {
			return fmt.Errorf("send standby audio: %w", err)
		}
	}
	return errors.New("standby audio ended")
}

// login speaks Icecast's source protocol up to its answer.
func (o Options) login(conn net.Conn) error {
	_ = conn.SetDeadline(time.Now().Add(writeTime))
	auth := base64.StdEncoding.EncodeToString([]byte("source:" + o.Password))
	if _, err := fmt.Fprintf(conn, "SOURCE %s HTTP/1.0\r\nAuthorization: Basic %s\r\nContent-Type: application/ogg\r\nIce-Public: 0\r\nUser-Agent: athir-standby\r\n\r\n",
		o.Mount, auth); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.Contains(answer, " 200 ") {
		return fmt.Errorf("the streaming server answered %q", strings.TrimSpace(answer))
	}
	return conn.SetDeadline(time.Time{})
}

// loop reads the encoded loop of the first file that has one.
func (o Options) loop(ctx context.Context) (*loop, error) {
	var errs []error
	for _, file := range o.Files {
		made, err := o.encoded(ctx, file)
		if err == nil {
			var data []byte
			if data, err = os.ReadFile(made); err == nil { //nolint:gosec // our own file
				var l *loop
				if l, err = parse(data); err == nil {
					return l, nil
				}
				_ = os.Remove(made) // made anew next time
			}
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("prepare standby audio: %w", errors.Join(errs...))
}

// encoded makes the loop of a file, once for each of its versions, and returns
// where it lies. It has the master stream's rate and channels, so that no
// player has to begin anew; it fades at both ends, so that nothing clicks where
// it begins again.
func (o Options) encoded(ctx context.Context, file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%d", Mark, file, info.Size(), info.ModTime().UnixNano()))
	out := filepath.Join(o.Dir, "standby-"+hex.EncodeToString(sum[:6])+".ogg")
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	if old, err := filepath.Glob(filepath.Join(o.Dir, "standby-*.ogg")); err == nil && len(old) > 8 {
		for _, f := range old { // of earlier versions of the files
			_ = os.Remove(f)
		}
	}
	tmp := out + ".new"
	defer os.Remove(tmp) //nolint:errcheck // gone where all went well
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(o.EncodeWithin, encodeWithin))
	defer cancel()
	// With the priority of the air: until this is done, an engine that ends takes every
	// listener of Icecast with it, and on a machine with forty jobs for each processor the
	// second that it takes becomes minutes.
	_, err = proc.Output(ctx, proc.Spec{Name: "encode standby audio", Path: "ffmpeg", Nice: proc.Air, Stop: syscall.SIGKILL, Args: []string{
		"-nostdin", "-hide_banner", "-v", "error", "-y", "-t", fmt.Sprint(atMost.Seconds()), "-i", "file:" + file, "-map", "0:a:0", "-map_metadata", "-1", "-metadata", Mark,
		// The fade-out is a fade-in of the reversed audio.
		"-af", "aformat=sample_rates=44100:channel_layouts=stereo,afade=d=0.4,areverse,afade=d=0.4,areverse",
		"-c:a", "libvorbis", "-b:a", "128k", "-page_duration", "200000", "-f", "ogg", "file:" + tmp,
	}}, 1<<16)
	if err != nil {
		return "", err
	}
	return out, os.Rename(tmp, out)
}
