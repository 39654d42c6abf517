package app

import (
	"log/slog"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
)

// joinBus connects a role to the station's bus.
func joinBus(cfg *config.Config, log *slog.Logger, role string) (*bus.Bus, error) {
	return bus.Connect(bus.Options{Log: log, URL: cfg.BusURL(), Name: "athir " + role, Token: busToken(cfg)})
}

// busToken: a server of the operator's own says in its URL who may come.
func busToken(cfg *config.Config) string {
	if cfg.Bus.URL != "" && cfg.Bus.Foreign() {
		return ""
	}
	return cfg.BusToken()
}

// openBus is the control plane's end of the bus, with the bus itself where the
// operator has no other.
func openBus(cfg *config.Config, log *slog.Logger) (b *bus.Bus, end func(), err error) {
	end = func() {}
	if cfg.Bus.URL == "" {
		host, port := cfg.BusListen()
		inside, err := bus.Embed(bus.EmbedOptions{Log: log, Host: host, Port: port, Token: cfg.BusToken()})
		if err != nil {
			return nil, nil, err
		}
		end = inside.Close
	}
	if b, err = joinBus(cfg, log, "control"); err != nil {
		end()
		return nil, nil, err
	}
	inside := end
	return b, func() { b.Close(); inside() }, nil
}
