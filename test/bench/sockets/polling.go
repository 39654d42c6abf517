package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// pollers are clients that never upgrade: behind proxies that know no WebSocket. Each
// event costs them a request.
type pollers struct {
	work sync.WaitGroup

	mu       sync.Mutex
	first    int
	sent     []time.Time
	received int
	broken   int
	late     histogram
}

// poller is one of them, with one connection.
type poller struct {
	all  *pollers
	conn net.Conn
	in   *bufio.Reader
	host string
	sid  string
}

// polling are the figures of one server.
type polling struct {
	phase
	memory       float64 // KB a client
	lost, broken int
}

// measurePolling has n clients poll a new server, to which an event a second is sent.
func measurePolling(ctx context.Context, o options, n int, args []string) (p polling, err error) {
	server, err := start(ctx, o, args)
	if err != nil {
		return p, err
	}
	defer server.stop()
	pid := server.command.Process.Pid
	time.Sleep(time.Second) // what starting took is over
	before := int(proc.RSS(pid) >> 10)
	all := &pollers{first: server.next}
	ctx, cancel := context.WithCancel(ctx)
	defer func() { cancel(); all.work.Wait() }()
	group := errgroup.Group{}
	group.SetLimit(32)
	for range n {
		group.Go(func() error {
			client := &poller{all: all, host: server.addr}
			if err := client.enter(ctx); err != nil {
				return fmt.Errorf("polling client: %w", err)
			}
			all.work.Go(func() { client.poll(ctx) })
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return p, err
	}
	time.Sleep(3 * time.Second)
	p.memory = float64(int(proc.RSS(pid)>>10)-before) / float64(n)
	used, began := proc.CPU(pid), time.Now()
	for range max(o.seconds, 2) {
		all.mu.Lock()
		all.sent = append(all.sent, time.Now())
		all.mu.Unlock()
		if _, err := fmt.Fprintf(server.orders, "1 %d\n", server.next); err != nil {
			return p, err
		}
		server.next++
		time.Sleep(time.Second)
	}
	for range 100 {
		all.mu.Lock()
		done := all.received == n*len(all.sent)
		all.mu.Unlock()
		if done {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	p.rate = float64(all.received) / time.Since(began).Seconds()
	p.cpu = (proc.CPU(pid) - used).Seconds() * 1e6 / float64(max(all.received, 1))
	p.p50, p.p99 = all.late.quantile(0.5), all.late.quantile(0.99)
	p.lost, p.broken = n*len(all.sent)-all.received, all.broken
	return p, nil
}

func (p *poller) enter(ctx context.Context) (err error) {
	if p.conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", p.host); err != nil {
		return err
	}
	p.in = bufio.NewReaderSize(p.conn, 2<<10)
	opened, err := p.request(http.MethodGet, "")
	if err != nil {
		return err
	}
	_, after, _ := strings.Cut(opened, `"sid":"`)
	p.sid, _, _ = strings.Cut(after, `"`)
	if _, err := p.request(http.MethodPost, "40"); err != nil {
		return err
	}
	for {
		body, err := p.request(http.MethodGet, "")
		if err != nil || strings.Contains(body, `40{"sid"`) {
			return err
		}
	}
}

// poll asks until ctx ends.
func (p *poller) poll(ctx context.Context) {
	defer p.conn.Close() //nolint:errcheck // nothing is left to send
	defer context.AfterFunc(ctx, func() { _ = p.conn.SetDeadline(time.Now()) })()
	for {
		body, err := p.request(http.MethodGet, "")
		now := time.Now()
		for packet := range strings.SplitSeq(body, "\x1e") {
			switch {
			case packet == "2" && err == nil:
				_, err = p.request(http.MethodPost, "3")
			case strings.HasPrefix(packet, `42["tick",`) && len(packet) > 17:
				p.all.count(packet[10:17], now)
			}
		}
		if err != nil {
			if ctx.Err() == nil {
				p.all.mu.Lock()
				p.all.broken++
				p.all.mu.Unlock()
			}
			return
		}
	}
}

func (a *pollers) count(number string, now time.Time) {
	n, _ := strconv.Atoi(number)
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := n - a.first; i >= 0 && i < len(a.sent) {
		a.received++
		a.late.add(now.Sub(a.sent[i]))
	}
}

// request sends one request and returns the body of its answer.
func (p *poller) request(method, body string) (string, error) {
	query := "EIO=4&transport=polling"
	if p.sid != "" {
		query += "&sid=" + p.sid
	}
	head := fmt.Sprintf("%s /socket.io/?%s HTTP/1.1\r\nHost: %s\r\nContent-Type: text/plain;charset=UTF-8\r\n", method, query, p.host)
	if method == http.MethodPost {
		head += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	if _, err := io.WriteString(p.conn, head+"\r\n"+body); err != nil {
		return "", err
	}
	resp, err := http.ReadResponse(p.in, nil)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answered %s: %s", method, resp.Status, text)
	}
	return string(text), err
}
