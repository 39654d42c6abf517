package rekey

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/reexec"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/internal/station"
)

// Node passes secrets on to the programs of a broadcast node that cannot hold two.
type Node struct {
	Config   *config.Config
	Log      *slog.Logger
	Handover *reexec.Handover
	At       string // where the streaming server asks about its sources, host:port on loopback
	Server   icecast.Options
	Engine   func() playout.Options // with the secrets of now
}

// Icecast are the options of the streaming server that runs here.
func (n Node) Icecast() icecast.Options {
	o := n.Server
	o.Auth = "http://" + n.At + "/"
	return o
}

// EnginePassword is what an engine that is about to start shows to the streaming server: one
// of its own, good for nothing else. A server that an earlier version started does not ask
// yet; it knows the source password alone.
func (n Node) EnginePassword() string {
	// In this order: the server is being started at the same time, and its configuration is
	// in place before it. Otherwise the engine's own would be the source password, and open
	// its harbor after that was replaced.
	if o := n.Icecast(); len(icecast.Find(o)) > 0 && !icecast.Asks(o) {
		return n.Config.Secret(config.SourcePassword).Current()
	}
	return rand.Text()
}

// Answer answers the streaming server's questions until ctx ends.
func (n Node) Answer(ctx context.Context) error {
	engine := func() string {
		text, _ := os.ReadFile(n.Engine().PasswordFile()) // it opens nothing where it is not there
		return string(text)
	}
	h := icecast.Sources{Valid: n.Config.Secret(config.SourcePassword).Valid, Engine: engine, Mount: station.MainChannel}
	return doors.Named("Icecast's questions", doors.Serve(ctx, doors.NewServer(n.At, h), doors.NewBound(n.Config, n.Log), n.Handover))
}

// Renew passes on the secrets that this process has just taken.
func (n Node) Renew(ctx context.Context) error {
	return errors.Join(playout.PutSecrets(n.Engine()), icecast.Reconfigure(ctx, n.Icecast()))
}

// Adopt has a streaming server that an earlier version started ask about its sources, once
// there is no way back to a version that would not answer.
func (n Node) Adopt(ctx context.Context) error {
	select {
	case <-n.Handover.Settled():
		if err := icecast.Reconfigure(ctx, n.Icecast()); err != nil {
			n.Log.Error("the streaming server goes by its configuration of before", "err", err)
		}
	case <-ctx.Done():
	}
	return nil
}
