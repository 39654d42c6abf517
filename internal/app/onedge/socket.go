package onedge

import (
	"log/slog"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/web/api"
	"github.com/athir-radio/athir/internal/web/socket"
	transport "github.com/athir-radio/athir/internal/web/socket/engine"
)

const (
	// MostEvent is the longest message of a client, in bytes: a voice note as a
	// data URL.
	MostEvent = 4 << 20
	// eventRate bounds what one client sends; live audio takes ten a second.
	eventRate = 50
	// mostPerAddress is how many connections one address may have: many users of a
	// mobile network share one.
	mostPerAddress = 500
	// mostGuests is how many beyond all limits are let in to say that they are one that is
	// there: when a network breaks, those who come back meet their own dead connections.
	mostGuests = 512
)

// SocketOptions limit what event clients may use.
func SocketOptions(cfg *config.Config, log *slog.Logger) socket.Options {
	return socket.Options{Options: transport.Options{
		MaxPayload: MostEvent, MaxSessions: cfg.Stream.MaxListeners, MaxPerClient: mostPerAddress, Guests: mostGuests, PacketRate: eventRate,
		ClientKey: client.Address, Wider: client.Wider, AllowOrigin: api.OriginNamed(cfg.CORSOrigins), Logger: log,
	}, Foreign: api.Foreign(cfg.CORSOrigins), MostKept: cfg.Stream.MaxListeners, MostKeptPerClient: mostPerAddress}
}
