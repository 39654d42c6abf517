package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// running is everything that was started.
type running struct{ wg sync.WaitGroup }

func (r *running) wait() { r.wg.Wait() }

// child is a started process that may be asked things, a line each way.
type child struct {
	pid   int
	ask   *io.PipeWriter
	lines *bufio.Reader
	stop  context.CancelFunc
	done  chan struct{}
}

// start runs a program until ctx ends or stop is called.
func (r *running) start(ctx context.Context, spec proc.Spec) (*child, error) {
	ctx, cancel := context.WithCancel(ctx)
	in, ask := io.Pipe()
	out, said := io.Pipe()
	if spec.Name == self {
		spec.Stdin, spec.Stdout, spec.Stderr = in, said, os.Stderr
	}
	c := &child{ask: ask, lines: bufio.NewReader(out), stop: cancel, done: make(chan struct{})}
	begun := make(chan error, 1)
	r.wg.Go(func() {
		defer close(c.done)
		exit, err := proc.Run(ctx, spec, func(pid int) { c.pid = pid; begun <- nil })
		if err == nil && ctx.Err() == nil {
			err = fmt.Errorf("%s ended: %s", spec.Name, exit)
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		_ = in.CloseWithError(io.ErrClosedPipe)
		_ = said.CloseWithError(errors.Join(err, io.EOF))
		begun <- err
	})
	// The child's standard input must end for proc.Run to return.
	context.AfterFunc(ctx, func() { _ = ask.Close() })
	if err := <-begun; err != nil {
		cancel()
		return nil, err
	}
	return c, nil
}

// self is the name of the processes that are this program again.
const self = "bench"

func (r *running) startSelf(ctx context.Context, role string, args ...string) (*child, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return r.start(ctx, proc.Spec{Name: self, Path: exe, Args: append([]string{"-role", role}, args...)})
}

func (c *child) line() (string, error) {
	line, err := c.lines.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("process %d says no more: %w", c.pid, err)
	}
	return line[:len(line)-1], nil
}

// report asks for a child's figures.
func (c *child) report(into any) error {
	if _, err := io.WriteString(c.ask, "report\n"); err != nil {
		return err
	}
	line, err := c.line()
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(line), into)
}

// answer is the child's side of report, until the parent has no more questions.
func answer(figures func() any) error {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if err := json.NewEncoder(os.Stdout).Encode(figures()); err != nil {
			return err
		}
	}
	return nil
}

func (c *child) end() { c.stop(); <-c.done }
