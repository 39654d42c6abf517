package role

import (
	"log/slog"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
)

// JoinBus connects a role to the station's bus.
func JoinBus(cfg *config.Config, log *slog.Logger, role string) (*bus.Bus, error) {
	return bus.Connect(bus.Options{Log: log, URL: cfg.BusURL(), Name: "athir " + role, Token: busToken(cfg)})
}

// busToken is empty for the operator's own server, whose URL holds the credentials.
func busToken(cfg *config.Config) string {
	if cfg.Bus.URL != "" && cfg.Bus.Foreign() {
		return ""
	}
	return cfg.BusToken()
}

// OpenBus connects the control plane to the bus, and runs the bus itself if the
// operator has no other.
func OpenBus(cfg *config.Config, log *slog.Logger) (b *bus.Bus, end func(), err error) {
	end = func() {}
	if cfg.Bus.URL == "" {
		host, port := cfg.BusListen()
		inside, err := bus.Embed(bus.EmbedOptions{Log: log, Host: host, Port: port, Token: cfg.BusToken()})
		if err != nil {
			return nil, nil, err
		}
		end = inside.Close
	}
	if b, err = JoinBus(cfg, log, "control"); err != nil {
		end()
		return nil, nil, err
	}
	inside := end
	return b, func() { b.Close(); inside() }, nil
}
