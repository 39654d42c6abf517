//go:build soak

package deb

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/athir-radio/athir/internal/kit/testkit"
)

// outside is the address of a machine that has its ports to itself.
const outside = "192.0.2.7"

// apart has containers started in a network of its own, as on a machine that does nothing
// else: the ports are those of the settings, and 80 and 443.
func (e *engine) apart() (through []string) {
	socket := "unix://" + filepath.Join(e.dir, e.t.Name()[strings.LastIndexByte(e.t.Name(), '/')+1:]+".sock")
	e.env = append(slices.Clone(e.env), "DOCKER_HOST="+socket)
	pid := e.serve("unshare", "--net", "sh", "-c", "ip link set lo up && ip tuntap add dev outside mode tap && ip addr add "+outside+"/24 dev outside && ip link set dev outside up && exec podman system service --time=0 "+socket)
	return []string{"nsenter", "--net", "--target", strconv.Itoa(pid), "--"}
}

// published is one.yaml with published.yaml beside it.
func (e *engine) published() {
	through := e.apart()
	p := e.project("published", "one.yaml published.yaml", "services:\n  athir:\n    restart: unless-stopped\n"+e.own(), "PUBLIC_ADDRESS="+outside+"\n")
	p.compose("up", "-d")
	heard(e.t, "http://"+outside+":8005/main", through...)
	testkit.Eventually(e.t, "phones are told this machine's address", func() bool {
		out, _ := exec.Command(through[0], append(through[1:], "curl", "-s", "http://"+outside+":8089/whip-info")...).Output()
		return bytes.Contains(out, []byte("turn:"+outside+":3478"))
	})
	testkit.EventuallyNil(e.t, "TURN answers over UDP", func() error { return e.bound(through[3], net.JoinHostPort(outside, "3478")) })
	p.compose("down", "-v")
}

// bound asks a STUN server, in the network of a process, for the address that it sees. The
// thread comes back: with one that ends, the kernel ends what it has started.
func (e *engine) bound(pid, address string) (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer own.Close()
	its, err := os.Open("/proc/" + pid + "/ns/net")
	if err != nil {
		return err
	}
	defer its.Close()
	if err := unix.Setns(int(its.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the network: %w", err)
	}
	defer func() { err = errors.Join(err, unix.Setns(int(own.Fd()), unix.CLONE_NEWNET)) }()
	c, err := net.Dial("udp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	request := make([]byte, 20) // a binding request of RFC 5389
	binary.BigEndian.PutUint16(request, 1)
	binary.BigEndian.PutUint32(request[4:], 0x2112A442)
	_, _ = rand.Read(request[8:])
	answer, n := make([]byte, 512), 0
	_, err = c.Write(request)
	if err = errors.Join(err, c.SetReadDeadline(time.Now().Add(2*time.Second))); err == nil { // then it is asked again
		n, err = c.Read(answer)
	}
	if err == nil && (n < 20 || binary.BigEndian.Uint16(answer) != 0x0101 || !bytes.Equal(answer[8:20], request[8:])) {
		err = fmt.Errorf("answered %x", answer[:n])
	}
	return err
}

// withHTTPS is one.yaml with its profile https. What stands in for the image caddy:2 is
// Debian's Caddy, started as that one starts; a certificate for localhost it makes itself.
func (e *engine) withHTTPS() {
	t := e.t
	dir := filepath.Join(e.dir, "caddy")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	e.write("caddy/Containerfile", `FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends caddy
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
`)
	e.do("podman", "build", "-q", "--pull=never", "--network=host", "-t", "docker.io/library/caddy:2", dir)
	file := e.write("Caddyfile", strings.ReplaceAll(text(t, "deploy/caddy/Caddyfile"), "radio.example", "localhost"))
	through := e.apart()
	p := e.project("https", "one.yaml", "services:\n  athir:\n    restart: unless-stopped\n"+e.own()+"  caddy:\n    volumes: [\""+file+":/etc/caddy/Caddyfile:ro\"]\n"+e.own(), "COMPOSE_PROFILES=https\n")
	p.compose("up", "-d")
	for _, path := range []string{"/", "/studio", "/api/status", "/go-live", "/chat"} {
		testkit.EventuallyNil(t, path+" comes by https", func() error {
			out, err := exec.Command(through[0], append(through[1:], "curl", "-skf", "-o", "/dev/null", "-D", "-", "https://localhost"+path)...).CombinedOutput()
			if err == nil && !strings.Contains(strings.ToLower(string(out)), "strict-transport-security") {
				err = fmt.Errorf("%s", out)
			}
			return err
		})
	}
	heard(t, "https://localhost/stream", through...)
	p.compose("down", "-v")
}
