package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/front"
)

// door is an address that listeners or presenters come to.
type door struct {
	name, url, setting string
	role               string
}

func doorsOf(cfg *config.Config) []door {
	at := func(port int, path string) string { return "http://" + config.Local(port) + path }
	playlist := front.HLSPrefix + station.MainChannel + "/index.m3u8"
	whip := at(cfg.Ports.WHIP, "/whip-info")
	if cfg.Live.TLSCert != "" {
		whip = "https" + whip[len("http"):]
	}
	icecast := []door{{"door icecast", at(cfg.Ports.Icecast, "/"+station.MainChannel), "ports.icecast", "node"}}
	beside, _ := cfg.Icecast.Beside() // the settings were validated
	for _, m := range beside {
		icecast = append(icecast, door{"door " + m.Codec, at(cfg.Ports.Icecast, "/"+station.MainChannel+"."+m.Codec), "icecast.mounts", "node"})
	}
	return append([]door{
		{"door control", at(cfg.Ports.Control, "/ping"), "ports.control", "control"},
		{"door stream", at(cfg.Ports.Control, "/stream"), "ports.control", "control"},
		{"door player", at(cfg.Ports.Player, "/"), "ports.player", "node"},
		{"door hls", at(cfg.Ports.Player, playlist), "ports.player", "node"},
		{"door chat", at(cfg.Ports.Chat, front.LivePath), "ports.chat", "node"},
		{"door whip", whip, "ports.whip", "node"},
	}, icecast...)
}

func (o Options) doorChecks(now alive) (out []check) {
	for _, d := range doorsOf(o.Config) {
		out = append(out, check{d.name, usual, func(ctx context.Context) Result {
			if now.of(d.role) == 0 {
				return skipped(notRunning)
			}
			took, err := firstByte(ctx, d.url)
			return judgeDoor(d, took, err)
		}})
	}
	return out
}

// firstByte asks as a listener does, and returns after how long the first byte of the body
// came.
func firstByte(ctx context.Context, address string) (time.Duration, error) {
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy, transport.DisableKeepAlives = nil, true
	lenient(transport) // its name is not ours here: another check judges the certificate
	answer, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err
		}
		return 0, err
	}
	defer answer.Body.Close() //nolint:errcheck // only its beginning is read
	if answer.StatusCode != http.StatusOK {
		return 0, errors.New("it answered " + strconv.Itoa(answer.StatusCode) + " " + http.StatusText(answer.StatusCode))
	}
	if _, err := io.ReadFull(answer.Body, make([]byte, 1)); err != nil {
		return 0, fmt.Errorf("nothing follows its answer: %w", err)
	}
	return time.Since(began), nil
}

func judgeDoor(d door, took time.Duration, err error) Result {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return wrong("look in the log what holds it up", "%s does not answer within %s", d.url, usual)
	case err != nil:
		return wrong("look in the log why it does not serve "+d.setting, "%s: %s", d.url, oneLine(err.Error()))
	case took > time.Second:
		return warning("the machine is busy: see memory and disk", "the first byte came after %s", took.Round(time.Millisecond))
	}
	return well("the first byte came after %s", took.Round(100*time.Microsecond))
}
