package config

import (
	"errors"
	"net"
	"path/filepath"
	"strconv"
	"strings"
)

// Node says where the broadcast node is.
type Node struct {
	// Remote: on another machine than the control plane.
	Remote bool `koanf:"remote"`
	// Host is where the control plane finds it.
	Host string `koanf:"host"`
	// Cache is the node's folder of media, CacheGB what it may take.
	Cache   string  `koanf:"cache"`
	CacheGB float64 `koanf:"cache_gb"`
}

func (n Node) validate() (wrong []error) {
	if strings.ContainsAny(n.Host, "/ \n\r\t@") || strings.Contains(n.Host, ":") && net.ParseIP(n.Host) == nil {
		wrong = append(wrong, errors.New("node.host: must be a host name or an address, without a port"))
	}
	if !filepath.IsAbs(n.Cache) || filepath.Clean(n.Cache) != n.Cache || n.Cache == "/" || !oneLine(n.Cache) {
		wrong = append(wrong, errors.New("node.cache: must be an absolute path, the same on both machines"))
	}
	if !(n.CacheGB > 0 && n.CacheGB <= 1_000_000) {
		wrong = append(wrong, errors.New("node.cache_gb: must be more than 0"))
	}
	return wrong
}

// CacheBytes is what the node's media may take.
func (n Node) CacheBytes() int64 { return int64(n.CacheGB * (1 << 30)) }

// OnNode is where the control plane finds a port of the broadcast node, host:port.
func (c *Config) OnNode(port int) string {
	if c.Node.Remote && c.Node.Host != "" {
		return net.JoinHostPort(c.Node.Host, strconv.Itoa(port))
	}
	return Local(port)
}

// Inner is the address on which the node serves what is not for listeners: the path
// list. A control plane on another machine must reach it.
func (c *Config) Inner() string {
	if c.Node.Remote {
		return c.Bind
	}
	return Loopback
}
