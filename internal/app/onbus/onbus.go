// Package onbus runs the station's bus, and says what each role may do on it.
package onbus

import (
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"log/slog"
	"strings"

	"github.com/athir-radio/athir/internal/app/role"
	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/bus"
	"github.com/athir-radio/athir/internal/kit/certificate"
	"github.com/athir-radio/athir/internal/node/remote"
	"github.com/athir-radio/athir/internal/web/edge"
)

// everything of the station is below this.
const everything = "athir.>"

// Rights are what a user of the bus may do there. They are the station's only rules: what
// is not here is refused. The control plane alone gives orders and tells events; a node
// takes orders; an edge hears events, and asks and reports under its own name.
func Rights(user string) bus.Rights {
	switch user {
	case config.BusControl:
		return bus.Rights{Publish: []string{everything, "_INBOX.>"}, Subscribe: []string{everything}}
	case config.BusNode:
		return bus.Rights{Publish: remote.NodeAsks(), Subscribe: remote.NodeServes(), Answer: true}
	}
	name := strings.TrimPrefix(user, config.BusEdge) // config.BusChat has the subjects without a name
	if user == config.BusChat {
		name = ""
	}
	return bus.Rights{
		Publish:   []string{edge.Of(edge.SubjectAsk, name), edge.Of(edge.SubjectPresent, name), events.SubjectSync},
		Subscribe: []string{events.SubjectEvents},
	}
}

// before are the rights of processes of the version before, which show one token: what an
// edge or a node does, as nobody knows which of them it is.
func before() bus.Rights {
	chat, node := Rights(config.BusChat), Rights(config.BusNode)
	return bus.Rights{Publish: append(chat.Publish, node.Publish...), Subscribe: append(chat.Subscribe, node.Subscribe...), Answer: true}
}

// Open connects the control plane to the bus, and runs the bus itself if the operator has
// no other.
func Open(cfg *config.Config, log *slog.Logger) (b *bus.Bus, end func(), err error) {
	opt, end := role.BusOptions(cfg, log, config.BusControl), func() {}
	if cfg.Bus.URL == "" {
		inside, own, err := embed(cfg, log)
		if err != nil {
			return nil, nil, err
		}
		opt.Login, end = own, inside.Close
	}
	if b, err = bus.Connect(opt); err != nil {
		end()
		return nil, nil, err
	}
	inside := end
	return b, func() { b.Close(); inside() }, nil
}

// embed starts the bus inside; own is what the control plane shows to it.
func embed(cfg *config.Config, log *slog.Logger) (inside *bus.Embedded, own bus.Login, err error) {
	var secured *tls.Config
	if cfg.Bus.TLSCert != "" {
		pair, err := certificate.Open(cfg.Bus.TLSCert, cfg.Bus.TLSKey, log)
		if err != nil {
			return nil, own, err
		}
		secured = pair.Config()
	}
	own = bus.Login{User: config.BusControl, Password: rand.Text()}
	host, port := cfg.BusListen()
	inside, err = bus.Embed(bus.EmbedOptions{Log: log, Host: host, Port: port, TLS: secured, Admit: func(shown bus.Login) (bus.Rights, bool) {
		switch {
		case shown.User == own.User:
			return Rights(own.User), subtle.ConstantTimeCompare([]byte(shown.Password), []byte(own.Password)) == 1
		case shown.User == "":
			return before(), cfg.BusAdmitsToken(shown.Token)
		}
		return Rights(shown.User), cfg.BusAdmits(shown.User, shown.Password)
	}})
	return inside, own, err
}
