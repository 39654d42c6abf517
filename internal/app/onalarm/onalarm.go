// Package onalarm wires the alarms that reach operators: the receivers of the settings, what
// is looked at beside the dead-air guard, and the heartbeat. When an alarm is told is decided
// in alarm/bell.
package onalarm

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/alarm/bell"
	"github.com/athir-radio/athir/internal/alarm/discord"
	"github.com/athir-radio/athir/internal/alarm/heartbeat"
	"github.com/athir-radio/athir/internal/alarm/mail"
	"github.com/athir-radio/athir/internal/alarm/telegram"
	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/onair/guard"
)

// Options of Open. All are required.
type Options struct {
	Config   *config.Config
	Log      *slog.Logger
	Version  string
	Database func() error  // why the database's file is not in its place
	Bus      func() string // why the bus is out of reach; empty: it is not
	Backup   func() string // why the newest try at a backup failed; empty: it did not
	// Node returns the node's programs, and its folder whose disk is full; empty: none.
	Node func(ctx context.Context) (programs []supervise.Status, diskFull string, err error)
	// OnSpare says that the spare node has the air, NoSpare that none stands by; empty: not so.
	OnSpare, NoSpare func(ctx context.Context) (wrong string, known bool)
	// Guard returns how the dead-air guard stands; not on: it is switched off.
	Guard func() (standing guard.Standing, on bool)
}

// Alarms tells operators. Make one with Open.
type Alarms struct {
	*bell.Bell
	opt    Options
	sender *fetch.Client
}

// Open prepares what Run runs.
func Open(o Options) *Alarms {
	sender := sender(o.Config, o.Version)
	return &Alarms{Bell: New(o.Config, o.Log, sender), opt: o, sender: sender}
}

// New makes a bell with the receivers of the settings.
func New(cfg *config.Config, log *slog.Logger, sender *fetch.Client) *bell.Bell {
	return bell.New(bell.Options{
		Log: log, Receivers: receivers(cfg, sender), File: cfg.AlarmsFile(), PerHour: cfg.Alarms.PerHour,
		Station: cfg.Name, Language: cfg.Language, Studio: studio(cfg), Zone: cfg.Timezone.Location,
	})
}

// Test sends a message to every receiver of the settings, from this process.
func Test(ctx context.Context, cfg *config.Config, log *slog.Logger, version string) []bell.Result {
	sender := sender(cfg, version)
	results := New(cfg, log, sender).Test(ctx)
	if cfg.Alarms.Heartbeat.URL == "" {
		return results
	}
	began := time.Now()
	r := bell.Result{Receiver: "heartbeat"}
	err := heartbeat.Beat(ctx, sender, cfg.Alarms.Heartbeat.URL)
	r.Sent, r.TookMS = err == nil, time.Since(began).Milliseconds()
	if err != nil {
		r.Error = err.Error()
	}
	return append(results, r)
}

// sender reaches the servers of the settings: web ports, and any above the system's services.
func sender(cfg *config.Config, version string) *fetch.Client {
	o := fetch.Options{
		Version: version, Setting: "alarms.allow_private: true",
		Ports: []fetch.PortRange{{From: 80, To: 80}, {From: 443, To: 443}, {From: 1024, To: 65535}},
	}
	if cfg.Alarms.AllowPrivate {
		o.Allow = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	}
	return fetch.New(o)
}

func receivers(cfg *config.Config, sender *fetch.Client) (out []alarm.Receiver) {
	a := cfg.Alarms
	if a.Email.Server != "" {
		host, port, _ := a.Email.HostPort() // validated
		out = append(out, mail.Receivers(mail.Options{
			Host: host, Port: port, TLS: a.Email.TLS, User: a.Email.User, Password: a.Email.Password, From: a.Email.From, Name: cfg.Name, To: a.Email.To,
		})...)
	}
	if a.Telegram.Token != "" {
		out = append(out, telegram.Receiver(telegram.Options{Sender: sender, Server: a.Telegram.Server, Token: a.Telegram.Token, Chat: a.Telegram.Chat}))
	}
	if a.Discord.URL != "" {
		out = append(out, discord.Receiver(sender, a.Discord.URL))
	}
	return out
}

// studio is the address that messages link to.
func studio(cfg *config.Config) string {
	if cfg.Alarms.Studio != "" {
		return cfg.Alarms.Studio
	}
	return "http://" + net.JoinHostPort(doors.ShownHost(cfg.Bind), strconv.Itoa(cfg.Ports.Control)) + "/studio"
}

// Run looks, tells and beats until ctx ends.
func (a *Alarms) Run(ctx context.Context) error {
	defer a.sender.Close()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return doors.Named("alarms", a.Bell.Run(ctx)) })
	g.Go(func() error { return a.Watch(ctx, conditions(a.opt)) })
	if url := a.opt.Config.Alarms.Heartbeat.URL; url != "" {
		g.Go(func() error {
			return heartbeat.Run(ctx, heartbeat.Options{Log: a.opt.Log, Sender: a.sender, URL: url, Well: func(ctx context.Context) string { return well(ctx, a.opt) }})
		})
	}
	return g.Wait()
}
