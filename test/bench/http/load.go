package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// figures are what one server did.
type figures struct {
	requests  int
	bytes     int // of one answer's body
	wall, cpu time.Duration
	took      []time.Duration
}

func (f *figures) add(g figures) {
	f.requests += g.requests
	f.bytes = g.bytes
	f.wall += g.wall
	f.cpu += g.cpu
	f.took = append(f.took, g.took...)
}

func (f *figures) perSecond() float64 { return float64(f.requests) / f.wall.Seconds() }
func (f *figures) perCPU() float64    { return float64(f.requests) / f.cpu.Seconds() }

// percentile is of the sorted times.
func (f *figures) percentile(p int) time.Duration {
	return f.took[min(len(f.took)-1, len(f.took)*p/100)].Round(10 * time.Microsecond)
}

// load has clients ask a server, each again once it is answered.
func load(ctx context.Context, s server, clients int, length time.Duration) (figures, error) {
	conns := make([]net.Conn, clients)
	for i := range conns {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			return figures{}, err
		}
		conns[i] = conn
		defer conn.Close() //nolint:errcheck // measured and done
	}
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	of := make([]figures, clients)
	errs := make([]error, clients)
	cpu, began := proc.CPU(s.pid), time.Now()
	var all sync.WaitGroup
	for i, conn := range conns {
		all.Go(func() { of[i], errs[i] = ask(ctx, conn, s.path) })
	}
	all.Wait()
	sum := figures{wall: time.Since(began), cpu: proc.CPU(s.pid) - cpu}
	for _, f := range of {
		sum.requests += f.requests
		sum.bytes = f.bytes
		sum.took = append(sum.took, f.took...)
	}
	return sum, errors.Join(errs...)
}

// ask is one client: as lean as can be, for it runs on the same processors.
func ask(ctx context.Context, conn net.Conn, path string) (f figures, err error) {
	request := []byte("GET " + path + " HTTP/1.1\r\nHost: radio.example\r\nAccept: */*\r\n\r\n")
	in := bufio.NewReaderSize(conn, 64<<10)
	for ctx.Err() == nil {
		began := time.Now()
		if _, err := conn.Write(request); err != nil {
			return f, err
		}
		n, err := readAnswer(in)
		if err != nil {
			return f, err
		}
		f.requests++
		f.bytes = n
		f.took = append(f.took, time.Since(began))
	}
	return f, nil
}

// readAnswer returns the length of a body. Both servers name it.
func readAnswer(in *bufio.Reader) (int, error) {
	length := -1
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if first && !bytes.Contains(line, []byte(" 200 ")) {
			return 0, fmt.Errorf("answers %s", line)
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
		if len(line) <= 2 {
			break
		}
	}
	if length < 0 {
		return readChunks(in)
	}
	_, err := in.Discard(length)
	return length, err
}

func readChunks(in *bufio.Reader) (total int, err error) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(line)), 16, 64)
		if err != nil {
			return 0, err
		}
		if _, err := io.CopyN(io.Discard, in, n+2); err != nil {
			return 0, err
		}
		if n == 0 {
			return total, nil
		}
		total += int(n)
	}
}

// machine is what this runs on.
func machine() string {
	model := ""
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		_, after, _ := strings.Cut(string(text), "model name\t: ")
		model, _, _ = strings.Cut(after, "\n")
	}
	return fmt.Sprintf("%d processors shared by servers and clients (%s)", runtime.NumCPU(), model)
}
