package bus

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Embedded is a bus server inside this process, for a station without another.
type Embedded struct{ srv *server.Server }

// EmbedOptions of an Embedded.
type EmbedOptions struct {
	Log  *slog.Logger
	Host string // to listen on
	Port int    // 0: any free one
	// Admit says what a client may do; false lets it not in. Required.
	Admit func(Login) (Rights, bool)
	// TLS encrypts; nil: nothing is encrypted. This machine's own clients may come without
	// it, others are refused.
	TLS *tls.Config
}

const (
	// startWait bounds how long the server may take to listen.
	startWait = 10 * time.Second
	// tlsWait bounds a handshake, and loginWait what a client then takes to say who it is:
	// a busy machine, or a slow line, needs more than the server's usual 2 s.
	tlsWait, loginWait = 10 * time.Second, 11 * time.Second
)

// Embed starts a server. End it with Close.
func Embed(opt EmbedOptions) (*Embedded, error) {
	if opt.Admit == nil {
		return nil, errors.New("embed the bus: nobody says who may come")
	}
	port := opt.Port
	if port == 0 {
		port = server.RANDOM_PORT
	}
	srv, err := server.NewServer(&server.Options{
		ServerName: "athir", Host: opt.Host, Port: port, CustomClientAuthentication: &door{opt, newVoice(opt.Log)},
		TLS: opt.TLS != nil, TLSConfig: opt.TLS, AllowNonTLS: opt.TLS != nil, TLSTimeout: tlsWait.Seconds(), AuthTimeout: loginWait.Seconds(),
		NoSigs: true, NoSystemAccount: true, DisableShortFirstPing: true,
		MaxPayload: 1 << 20, MaxPending: 64 << 20, MaxConn: 4096, MaxControlLine: 4096,
		WriteDeadline: 10 * time.Second, PingInterval: pingEvery, MaxPingsOut: pingsLost,
	})
	if err != nil {
		return nil, fmt.Errorf("embed the bus: %w", err)
	}
	srv.SetLoggerV2(serverLog{opt.Log, newVoice(opt.Log)}, false, false, false)
	srv.Start()
	if !srv.ReadyForConnections(startWait) {
		srv.Shutdown()
		return nil, fmt.Errorf("embed the bus: the server does not listen on %s:%d: check that the port is free", opt.Host, opt.Port)
	}
	return &Embedded{srv}, nil
}

// URL is the server's address for this process.
func (e *Embedded) URL() string { return e.srv.ClientURL() }

// Close ends every connection and returns when the server has stopped.
func (e *Embedded) Close() {
	e.srv.Shutdown()
	e.srv.WaitForShutdown()
}

// serverLog passes the server's log lines to ours; its notices go to the debug
// level.
type serverLog struct {
	log   *slog.Logger
	wrong *voice
}

func (l serverLog) line(level slog.Level, format string, v []any) {
	l.log.Log(context.Background(), level, "bus: "+fmt.Sprintf(format, v...))
}
func (l serverLog) Noticef(format string, v ...any) { l.line(slog.LevelDebug, format, v) }
func (l serverLog) Warnf(format string, v ...any)   { l.line(slog.LevelDebug, format, v) }
func (l serverLog) Fatalf(format string, v ...any)  { l.line(slog.LevelError, format, v) }
func (l serverLog) Errorf(format string, v ...any) {
	l.wrong.say(slog.LevelWarn, "bus: "+fmt.Sprintf(format, v...))
}
func (l serverLog) Debugf(format string, v ...any) { l.line(slog.LevelDebug, format, v) }
func (l serverLog) Tracef(format string, v ...any) { l.line(slog.LevelDebug, format, v) }
