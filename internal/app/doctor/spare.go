package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/api"
)

// clocksApart is the difference at which the times of what is heard are worth a look.
const clocksApart = time.Second

// spareChecks look at a station whose node is another machine, from whichever of its machines
// this is.
func (o Options) spareChecks(now alive) (out []check) {
	cfg := o.Config
	if len(cfg.HLS.Relay) > 0 {
		out = append(out, check{"hls.relay", usual, func(ctx context.Context) Result { return judgeRelays(cfg, relaysAway(ctx, cfg.HLS.Relay)) }})
	}
	switch {
	case !cfg.Node.Remote:
		return out
	case now.control != 0:
		return append(out, o.controlChecks()...)
	case now.node != 0:
		return append(out,
			check{"node", usual, func(ctx context.Context) Result { p, err := partOf(ctx, cfg); return judgePart(p, err) }},
			check{"node sight", usual, func(ctx context.Context) Result {
				p, err := partOf(ctx, cfg)
				if err != nil || p == nil || p.Other == "" {
					return judgeLook(p, err, nil)
				}
				return judgeLook(p, nil, o.See(ctx, p.Other))
			}})
	}
	return append(out, check{"node", usual, func(context.Context) Result { return skipped(notRunning) }})
}

// controlChecks ask the control plane, which knows of both nodes.
func (o Options) controlChecks() []check {
	cfg := o.Config
	asked := func(judge func(ctx context.Context, n *api.NodeStanding) Result) func(context.Context) Result {
		return func(ctx context.Context) Result {
			n, err := standing(ctx, cfg)
			if err != nil {
				return wrong("look in the log why it does not serve ports.control", "the control plane does not say which node has the air: %s", oneLine(err.Error()))
			}
			return judge(ctx, n)
		}
	}
	out := []check{{"node", usual, asked(func(_ context.Context, n *api.NodeStanding) Result { return judgeHolder(n) })}}
	if cfg.Node.Spare == "" {
		return out
	}
	return append(out,
		check{"spare", usual, asked(func(_ context.Context, n *api.NodeStanding) Result {
			return judgeSpare(n, cfg.Node.Host, cfg.Node.Spare)
		})},
		check{"spare copy", usual, asked(func(_ context.Context, n *api.NodeStanding) Result { return judgeSpareCopy(n) })},
		check{"node clocks", usual, asked(func(_ context.Context, n *api.NodeStanding) Result { return judgeClocks(n) })},
		check{"node sight", usual, asked(func(ctx context.Context, n *api.NodeStanding) Result {
			if n.Spare == nil {
				return judgeSight(n, cfg.Ports.Icecast, nil)
			}
			return judgeSight(n, cfg.Ports.Icecast, o.See(ctx, n.Spare.Host))
		})},
	)
}

// ask gets JSON of this machine.
func ask(ctx context.Context, cfg *config.Config, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+config.Local(cfg.Ports.Control)+path, http.NoBody)
	if err != nil {
		return err
	}
	if key := cfg.Secret(config.StationKey).Current(); key != "" {
		req.Header.Set("X-Station-Key", key)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode != http.StatusOK {
		return errors.New("it answered " + resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

func standing(ctx context.Context, cfg *config.Config) (*api.NodeStanding, error) {
	var got struct {
		Node *api.NodeStanding `json:"node"`
	}
	if err := ask(ctx, cfg, "/api/status", &got); err != nil {
		return nil, err
	}
	if got.Node == nil {
		return nil, errors.New("it takes no station key of these settings")
	}
	return got.Node, nil
}

// part is what a node is to the station, as its supervisor tells it.
type part struct {
	Spare bool   `json:"spare"` // it stands by; else it has the air
	Fence uint64 `json:"fence"`
	Other string `json:"other"` // where the other node is
}

// partOf asks the node on this machine what it is to the station; nil: nothing.
func partOf(ctx context.Context, cfg *config.Config) (*part, error) {
	sockets, err := doors.SocketDir(cfg)
	if err != nil {
		return nil, err
	}
	node := supervise.NewClient(filepath.Join(sockets, doors.Node+".sock"))
	defer node.Close()
	var got struct {
		Part *part `json:"part"`
	}
	err = node.Report(ctx, &got)
	return got.Part, err
}

// relaysAway are the relays that do not answer. What one answers to us is its own affair: an
// edge has a credential.
func relaysAway(ctx context.Context, relays []string) (away []string) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, relay := range relays {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+relay+"/"+station.MainChannel+"/index.m3u8", http.NoBody)
		if err == nil {
			var resp *http.Response
			if resp, err = client.Do(req); err == nil {
				_ = resp.Body.Close()
			}
		}
		if err != nil {
			away = append(away, relay)
		}
	}
	return away
}

func judgeHolder(n *api.NodeStanding) Result {
	switch {
	case n.Name == "":
		return wrong("start 'athir node' there; its log says what bus.url or sync_token lacks", "no node has the air")
	case n.OnSpare && n.TookWhy != "":
		return warning("mend the first node, and stop the spare for a moment to have the air go back", "%s, at node.spare, has the air by fence %d: %s", n.Name, n.Fence, oneLine(n.TookWhy))
	}
	return well("%s, at %s, has the air by fence %d", n.Name, n.Host, n.Fence)
}

func judgeSpare(n *api.NodeStanding, host, spare string) Result {
	if n.Spare == nil {
		at := spare
		if n.OnSpare {
			at = host
		}
		return wrong("start 'athir node' at "+at+", with node.host set to that address; its log says what it lacks", "no node stands by")
	}
	return well("%s stands by at %s", n.Spare.Name, n.Spare.Host)
}

func judgeSpareCopy(n *api.NodeStanding) Result {
	if n.Spare == nil {
		return skipped("no node stands by")
	}
	s := n.Spare
	switch {
	case s.Problem != "":
		return warning("see that it reaches ports.control here, and has room (node.cache_gb)", "%d of %d entries (%.1f MB of media) are missing: %s", s.Missing, s.Entries, megabytes(s.Bytes), oneLine(s.Problem))
	case !s.InPlace:
		return warning("wait some seconds, and look again", "it does not hold the list yet")
	case s.Missing > 0:
		return warning("wait: they are pulled, over a slow line for long", "%d of %d entries (%.1f MB of media) are missing", s.Missing, s.Entries, megabytes(s.Bytes))
	}
	return well("it has all %d entries that come", s.Entries)
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

func judgeClocks(n *api.NodeStanding) Result {
	all := []time.Duration{time.Duration(n.ClockMS) * time.Millisecond}
	seen := fmt.Sprintf("ahead of the control plane's: that of the node with the air by %s", all[0])
	if n.Spare != nil {
		all = append(all, time.Duration(n.Spare.ClockMS)*time.Millisecond)
		seen += fmt.Sprintf(", the spare's by %s", all[1])
	}
	if slices.ContainsFunc(all, func(d time.Duration) bool { return d.Abs() > clocksApart }) {
		return warning("keep all three machines in time (timedatectl set-ntp true)", "%s", seen)
	}
	return well("%s", seen)
}

// judgeSight says who does not see whose streaming server; err is of our own look at the spare's.
func judgeSight(n *api.NodeStanding, port int, err error) Result {
	var blind []string
	add := func(is bool, who, whom string) {
		if is {
			blind = append(blind, who+" does not see that of "+whom)
		}
	}
	add(n.Unseen > 0, "the control plane", "the node with the air, "+n.Host)
	if n.Spare != nil {
		add(n.Spare.Unseen > 0, "the spare", "the node with the air, "+n.Host)
		add(err != nil, "this machine", "the spare, "+n.Spare.Host)
	}
	if len(blind) > 0 {
		return warning(fmt.Sprintf("let port %d of each node through to the control plane and to the other node", port), "Icecast: %s", strings.Join(blind, "; "))
	}
	if n.Spare == nil {
		return well("the control plane sees the Icecast of %s", n.Host)
	}
	return well("control plane and spare see the Icecast of %s, and this machine the spare's", n.Host)
}

func judgePart(p *part, err error) Result {
	switch {
	case err != nil:
		return wrong("look in the log why the node does not answer", "%s", oneLine(err.Error()))
	case p == nil:
		return wrong("see that it reaches bus.url with the sync_token of the control plane; the log names another node where one has its place", "this node neither has the air nor stands by")
	case p.Spare:
		return well("this node stands by; the node with the air has fence %d", p.Fence)
	}
	return well("this node has the air by fence %d", p.Fence)
}

// judgeLook says whether a node sees the other one, as the lookout needs it.
func judgeLook(p *part, err, look error) Result {
	switch {
	case err != nil || p == nil:
		return skipped("this node does not know of another one")
	case p.Other == "":
		return skipped("the control plane's settings name no spare (node.spare)")
	case look != nil:
		return warning("let ports.icecast of each node through to the other: a spare that is blind takes the air of a node that is heard where the control plane is blind, too",
			"it does not see the Icecast of the other node, %s: %s", p.Other, oneLine(look.Error()))
	}
	return well("it sees the Icecast of the other node, %s", p.Other)
}

// judgeRelays says whether an edge follows the nodes that there are.
func judgeRelays(cfg *config.Config, away []string) Result {
	named := strings.Join(cfg.HLS.Relay, ", ")
	for _, host := range []string{cfg.Node.Host, cfg.Node.Spare} {
		if cfg.Node.Spare != "" && !slices.ContainsFunc(cfg.HLS.Relay, func(relay string) bool { at, _, err := net.SplitHostPort(relay); return err == nil && at == host }) {
			return wrong(fmt.Sprintf("set hls.relay: [%s, %s]", net.JoinHostPort(cfg.Node.Host, fmt.Sprint(cfg.Ports.HLS)), net.JoinHostPort(cfg.Node.Spare, fmt.Sprint(cfg.Ports.HLS))),
				"hls.relay names %s, and not the node at %s", named, host)
		}
	}
	if len(away) > 0 {
		return warning("see that they run, and that ports.hls of the nodes is open to this edge", "of %s these do not answer: %s", named, strings.Join(away, ", "))
	}
	if len(cfg.HLS.Relay) == 1 {
		return well("%s answers; a station with a spare node has two, both belong into hls.relay", named)
	}
	return well("%s answer", named)
}
