package icecast

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/kit/client"
)

// crowded is the share of the mount's places from which on its listeners are looked at: a
// listing of thousands is not asked for where nobody lacks a place.
const crowded = 0.8

// trimEvery is how often it is looked whether the server is nearly full.
const trimEvery = 5 * time.Second

// KeepPlaces trims the listeners, again and again until ctx ends.
func KeepPlaces(ctx context.Context, log *slog.Logger, web *http.Client, o Options, perAddress int) error {
	clock := time.NewTicker(trimEvery)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-clock.C:
		}
		within, cancel := context.WithTimeout(ctx, trimEvery)
		ended, err := Trim(within, web, o, perAddress)
		cancel()
		if ended > 0 {
			log.Warn("streaming server is nearly full: ended connections of addresses that have many", "ended", ended, "setting", "stream.max_per_address")
		}
		if err != nil && ctx.Err() == nil {
			log.Debug("cannot look at the streaming server's listeners", "err", err)
		}
	}
}

// Trim makes places free on a mount that is nearly full: it ends the newest connections of
// every address that has more than perAddress, and the newest of all beyond the listeners
// that the mount is meant for. Our own parts, and what a proxy on this machine forwards,
// are left alone. It returns how many it ended.
func Trim(ctx context.Context, web *http.Client, o Options, perAddress int) (int, error) {
	return trim(ctx, web, o, perAddress, Listener.key)
}

// trim is Trim, with what a listener is counted by: empty for those left alone.
func trim(ctx context.Context, web *http.Client, o Options, perAddress int, key func(Listener) string) (int, error) {
	status, err := ReadStatus(ctx, web, o)
	if err != nil {
		return 0, err
	}
	if float64(status.Listeners()) < crowded*float64(o.listeners()) {
		return 0, nil
	}
	all, err := Listeners(ctx, web, o)
	if err != nil {
		return 0, err
	}
	ended := 0
	for _, l := range surplus(all, o.listeners(), perAddress, key) {
		if err := kick(ctx, web, o, l); err != nil {
			return ended, err
		}
		ended++
	}
	return ended, nil
}

// surplus returns the listeners to end, the newest first.
func surplus(all []Listener, most, perAddress int, key func(Listener) string) []Listener {
	foreign := slices.DeleteFunc(slices.Clone(all), func(l Listener) bool { return key(l) == "" })
	slices.SortFunc(foreign, func(a, b Listener) int { return cmp.Compare(number(a), number(b)) })
	var keep, end []Listener
	open := map[string]int{}
	for _, l := range foreign {
		if from := key(l); perAddress > 0 && open[from] >= perAddress {
			end = append(end, l)
		} else {
			open[from]++
			keep = append(keep, l)
		}
	}
	if over := len(all) - len(end) - most; over > 0 {
		end = append(end, keep[max(0, len(keep)-over):]...)
	}
	slices.SortFunc(end, func(a, b Listener) int { return cmp.Compare(number(b), number(a)) })
	return end
}

// key is the listener's address as connections are counted elsewhere; empty for this
// machine.
func (l Listener) key() string { return client.Peer(&net.TCPAddr{IP: net.ParseIP(l.Address)}) }

// number is the listener's place in the order of connections.
func number(l Listener) uint64 {
	n, err := strconv.ParseUint(l.ID, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// kick ends one connection.
func kick(ctx context.Context, web *http.Client, o Options, l Listener) error {
	query := url.Values{"mount": {cmp.Or(l.Mount, o.mount())}, "id": {l.ID}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.address()+"/admin/killclient?"+query.Encode(), nil)
	if err != nil {
		return fmt.Errorf("end an Icecast listener: %w", err)
	}
	for _, password := range o.passwords() {
		req.SetBasicAuth(adminUser, admin(password))
		resp, err := web.Do(req)
		if err != nil {
			return fmt.Errorf("end an Icecast listener: %w", err)
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxStatus))
		_ = resp.Body.Close() // only read
		if resp.StatusCode != http.StatusUnauthorized {
			break // 400: gone by itself
		}
	}
	return nil
}
