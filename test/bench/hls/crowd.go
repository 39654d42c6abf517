package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/athir-radio/athir/internal/kit/retry"
)

// crowd is many players.
type crowd struct {
	work                   sync.WaitGroup
	answers, failed, bytes atomic.Int64
}

func (c *crowd) totals() (answers, failed, bytes int) {
	return int(c.answers.Load()), int(c.failed.Load()), int(c.bytes.Load())
}

// player is one listener with one connection, which takes an answer for its length
// only: the processor is the server's.
type player struct {
	crowd   *crowd
	conn    net.Conn
	in      *bufio.Reader
	host    string
	list    string // path of the media playlist
	last    string // newest segment fetched
	request bytes.Buffer
}

// published waits until listeners are let in.
func published(ctx context.Context, base string) error {
	for patience := time.Now().Add(30 * time.Second); time.Now().Before(patience); {
		resp, err := http.Get(base + "index.m3u8?cookieCheck=1") //nolint:noctx // on loopback
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return retry.Pause(ctx, 8*time.Second) // until the list has some segments
			}
		}
		if err := retry.Pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	return errors.New("nothing is published after 30 s")
}

// enter begins the sessions of all players, spread over two seconds, and lets them
// play until ctx ends.
func enter(ctx context.Context, base string, n int) (*crowd, error) {
	c := &crowd{}
	at, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	for i := range n {
		p := &player{crowd: c, host: at.Host}
		if err := p.begin(ctx, at.Path); err != nil {
			return nil, fmt.Errorf("client %d: %w", i, err)
		}
		c.work.Go(func() { p.play(ctx, time.Duration(i)*2*time.Second/time.Duration(n)) })
	}
	return c, nil
}

func (p *player) begin(ctx context.Context, folder string) (err error) {
	if p.conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", p.host); err != nil {
		return err
	}
	p.in = bufio.NewReaderSize(p.conn, 8<<10)
	master, err := p.text(folder + "index.m3u8?cookieCheck=1")
	if err != nil {
		return err
	}
	for line := range strings.Lines(master) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			p.list = folder + line
		}
	}
	return nil
}

// play fetches the playlist every two seconds, and of it the newest segment.
func (p *player) play(ctx context.Context, after time.Duration) {
	defer p.conn.Close() //nolint:errcheck // all was read
	defer context.AfterFunc(ctx, func() { _ = p.conn.SetDeadline(time.Now()) })()
	folder := p.list[:strings.LastIndexByte(strings.SplitN(p.list, "?", 2)[0], '/')+1]
	if retry.Pause(ctx, after) != nil {
		return
	}
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		if err := p.once(folder); err != nil && ctx.Err() == nil {
			p.crowd.failed.Add(1)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (p *player) once(folder string) error {
	list, err := p.text(p.list)
	if err != nil {
		return err
	}
	list = strings.TrimSpace(list)
	newest := list[strings.LastIndexByte(list, '\n')+1:]
	if newest == p.last {
		return nil
	}
	if err := p.get(folder+newest, io.Discard); err != nil {
		return err
	}
	p.last = newest
	return nil
}

func (p *player) text(path string) (string, error) {
	var out strings.Builder
	err := p.get(path, &out)
	return out.String(), err
}

// get sends one request and reads its answer.
func (p *player) get(path string, into io.Writer) error {
	p.request.Reset()
	fmt.Fprintf(&p.request, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) hls.js\r\nAccept: */*\r\nAccept-Language: ar,en;q=0.8\r\nAccept-Encoding: identity\r\nConnection: keep-alive\r\n\r\n", path, p.host)
	if _, err := p.conn.Write(p.request.Bytes()); err != nil {
		return err
	}
	status, err := p.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 200")) {
		err = fmt.Errorf("%s: %s", path, bytes.TrimSpace(status))
	}
	length := int64(-1)
	for {
		line, readErr := p.in.ReadSlice('\n')
		if readErr != nil {
			return readErr
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			break
		}
		if name, value, _ := strings.Cut(string(line), ":"); strings.EqualFold(name, "Content-Length") {
			length, _ = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		} else if strings.EqualFold(name, "Transfer-Encoding") {
			length = -2
		}
	}
	var body io.Reader = io.LimitReader(p.in, length)
	if length == -2 {
		body = httputil.NewChunkedReader(p.in)
	}
	n, copyErr := io.Copy(into, body)
	if length == -2 && copyErr == nil {
		_, copyErr = p.in.Discard(2) // the line after the last piece
	}
	p.crowd.answers.Add(1)
	p.crowd.bytes.Add(n)
	return errors.Join(err, copyErr)
}
