package config

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
)

// Node says where the broadcast node is.
type Node struct {
	// Remote: on another machine than the control plane.
	Remote bool `koanf:"remote"`
	// Host is where the control plane finds it; at a node, its own address as the control
	// plane's settings have it.
	Host string `koanf:"host"`
	// Spare is where the control plane finds a second node, which takes the air if the first
	// one dies; empty: there is none.
	Spare string `koanf:"spare"`
	// Cache is the node's folder of media, CacheGB what it may take.
	Cache   string  `koanf:"cache"`
	CacheGB float64 `koanf:"cache_gb"`
}

func (n Node) validate() (wrong []error) {
	for _, at := range [][2]string{{"node.host", n.Host}, {"node.spare", n.Spare}} {
		if host := at[1]; strings.ContainsAny(host, "/ \n\r\t@") || strings.Contains(host, ":") && net.ParseIP(host) == nil {
			wrong = append(wrong, fmt.Errorf("%s: must be a host name or an address, without a port", at[0]))
		}
	}
	if n.Spare != "" && (!n.Remote || n.Host == "" || n.Spare == n.Host) {
		wrong = append(wrong, errors.New("node.spare: needs node.remote and node.host, the address of the first node, which must be another"))
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

// Inner is the address on which the node serves what is not for listeners: the path
// list. A control plane on another machine must reach it.
func (c *Config) Inner() string {
	if c.Node.Remote {
		return c.Bind
	}
	return Loopback
}
