package role

import (
	"log/slog"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
)

// BusOptions are how a role joins the station's bus.
func BusOptions(cfg *config.Config, log *slog.Logger, role string) bus.Options {
	user, password, token := cfg.BusLogin(role)
	return bus.Options{
		Log: log, URL: cfg.BusURL(), CA: cfg.Bus.CA, Name: "athir " + role,
		Login: bus.Login{User: user, Password: password, Token: token},
	}
}

// JoinBus connects a role to the station's bus.
func JoinBus(cfg *config.Config, log *slog.Logger, role string) (*bus.Bus, error) {
	return bus.Connect(BusOptions(cfg, log, role))
}
