package role

import (
	"log/slog"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
)

// BusOptions are how a role joins the station's bus.
func BusOptions(cfg *config.Config, log *slog.Logger, role string) bus.Options {
	return bus.Options{Log: log, URL: cfg.BusURL(), CA: cfg.Bus.CA, Name: "athir " + role, Login: busLogin(cfg, role)}
}

func busLogin(cfg *config.Config, role string) bus.Login {
	user, password, token := cfg.BusLogin(role)
	return bus.Login{User: user, Password: password, Token: token}
}

// JoinBus connects a role to the station's bus, each time with what is derived from the
// SYNC_TOKEN of then: that may be replaced while the role runs.
func JoinBus(cfg *config.Config, log *slog.Logger, role string) (*bus.Bus, error) {
	opt := BusOptions(cfg, log, role)
	opt.Anew = func() bus.Login { return busLogin(cfg, role) }
	return bus.Connect(opt)
}
