package config

import (
	"fmt"
	"net"
	"strconv"
)

// Ports are the ports of the station's parts: TCP, and of media and turn UDP too.
type Ports struct {
	Control int `koanf:"control"`
	Icecast int `koanf:"icecast"`
	Harbor  int `koanf:"harbor"`
	Chat    int `koanf:"chat"`
	Player  int `koanf:"player"`
	WHIP    int `koanf:"whip"`
	RTMP    int `koanf:"rtmp"`
	HLS     int `koanf:"hls"`
	Paths   int `koanf:"paths"`
	NATS    int `koanf:"nats"`
	TURN    int `koanf:"turn"`
	TURNS   int `koanf:"turns"`
	Live    int `koanf:"live"`
	Media   int `koanf:"media"`
}

// Port is one port with the name of its setting.
type Port struct {
	Name   string
	Number int
}

// All lists the ports in the order of the settings file.
func (p Ports) All() []Port {
	return []Port{
		{"control", p.Control}, {"icecast", p.Icecast}, {"harbor", p.Harbor}, {"chat", p.Chat},
		{"player", p.Player}, {"whip", p.WHIP}, {"rtmp", p.RTMP}, {"hls", p.HLS},
		{"paths", p.Paths}, {"nats", p.NATS}, {"turn", p.TURN}, {"turns", p.TURNS}, {"live", p.Live}, {"media", p.Media},
	}
}

func (p Ports) validate() (wrong []error) {
	owner := map[int]string{}
	for _, port := range p.All() {
		if port.Number < 1 || port.Number > 65535 {
			wrong = append(wrong, fmt.Errorf("ports.%s: %d is not a port: use 1 to 65535", port.Name, port.Number))
			continue
		}
		if other, taken := owner[port.Number]; taken {
			wrong = append(wrong, fmt.Errorf("ports.%s: %d is already ports.%s: move one of them", port.Name, port.Number, other))
			continue
		}
		owner[port.Number] = port.Name
	}
	return wrong
}

// Loopback is the address of this machine's own services.
const Loopback = "127.0.0.1"

// Local is the loopback address of a port, host:port.
func Local(port int) string { return net.JoinHostPort(Loopback, strconv.Itoa(port)) }

// Public is the address on which listeners are served, host:port.
func (c *Config) Public(port int) string { return net.JoinHostPort(c.Bind, strconv.Itoa(port)) }
