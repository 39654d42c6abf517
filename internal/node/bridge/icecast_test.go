package bridge_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/port"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// icecast runs the real server on a port until the returned function kills it.
func icecast(t *testing.T, number int) (kill func()) {
	t.Helper()
	dir := t.TempDir()
	owner := ""
	if os.Getuid() == 0 { // it refuses to stay root
		owner = "<security><changeowner><user>nobody</user><group>nogroup</group></changeowner></security>"
	}
	config := fmt.Sprintf(`<icecast><hostname>localhost</hostname><limits><sources>2</sources></limits>
<authentication><source-password>pw</source-password><admin-password>pw</admin-password></authentication>
<listen-socket><port>%d</port><bind-address>127.0.0.1</bind-address></listen-socket>
<paths><logdir>%s</logdir><webroot>/usr/share/icecast2/web</webroot><adminroot>/usr/share/icecast2/admin</adminroot></paths>
<logging><accesslog>-</accesslog><errorlog>-</errorlog><loglevel>2</loglevel></logging>%s</icecast>`, number, dir, owner)
	name := filepath.Join(dir, "icecast.xml")
	if err := os.WriteFile(name, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	kill = testkit.Supervised(t, proc.Spec{Name: "icecast", Path: "icecast2", Args: []string{"-c", name}, Stop: syscall.SIGKILL, Stdout: t.Output(), Stderr: t.Output()})
	testkit.Eventually(t, "icecast", func() bool { return port.Listening(number) })
	return kill
}

// source is the playout engine: it sends the tones to Icecast in real time,
// and comes back half a second after it was cut off.
func source(t *testing.T, tones *fakeIcecast, port int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_ = sendTo(ctx, tones, port)
			select {
			case <-ctx.Done():
			case <-time.After(500 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func sendTo(ctx context.Context, tones *fakeIcecast, port int) error {
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	defer conn.Close()
	auth := base64.StdEncoding.EncodeToString([]byte("source:pw"))
	if _, err := fmt.Fprintf(conn, "PUT /main HTTP/1.1\r\nHost: x\r\nAuthorization: Basic %s\r\nContent-Type: application/ogg\r\nExpect: 100-continue\r\n\r\n", auth); err != nil {
		return err
	}
	if _, err := conn.Read(make([]byte, 4096)); err != nil {
		return err
	}
	return feed(tones, time.Since(tones.begin), func(data []byte, due time.Time) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(due)):
		}
		_, err := conn.Write(data)
		return err
	})
}

func TestTheBridgeOutlivesAKilledIcecast(t *testing.T) {
	t.Parallel()
	c, _, _, away := killIcecast(t)
	switch starts := len(c.starts()); {
	case starts == 1:
	case away < bridgeWaits:
		t.Errorf("the bridge was started %d times, for an Icecast that was away for %s", starts, away)
	default:
		t.Logf("Icecast was away for %s on this machine, longer than the bridge waits by itself", away)
	}
}

// bridgeWaits is how long ffmpeg tries again: see reconnect_delay_max.
const bridgeWaits = 4 * time.Second

// killedIcecast is a listener who has heard the real one killed and replaced.
func killedIcecast(t *testing.T) (*chain, *listener, *fakeIcecast) {
	t.Helper()
	c, l, tones, _ := killIcecast(t)
	return c, l, tones
}

// killIcecast also says for how long the mount was away.
func killIcecast(t *testing.T) (*chain, *listener, *fakeIcecast, time.Duration) {
	t.Helper()
	number := testkit.Port(t)
	tones := newFakeIcecast(t, encodeTones(t)) // for its tones alone
	kill := icecast(t, number)
	source(t, tones, number)
	address := fmt.Sprintf("http://127.0.0.1:%d/main", number)
	c := newChain(t, address, anyStall)
	c.playing(t)
	listener := newListener(t, c.address)
	listener.follow(t, "music", func() bool { return len(listener.pieces) >= 2 })
	killed := time.Now()
	kill()
	icecast(t, number)
	up := time.Now()
	testkit.EventuallyNil(t, "the mount", func() error { return mounted(address) })
	away := time.Since(killed)
	listener.follow(t, "music after Icecast's restart", func() bool {
		n := len(listener.pieces)
		return listener.pieces[n-1].at.After(up)
	})
	return c, listener, tones, away
}

// mounted returns nil where a mount has a source.
func mounted(address string) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(address)
	if err != nil {
		return err
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode == http.StatusOK {
		return err
	}
	return errors.New(resp.Status)
}
