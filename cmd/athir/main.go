// Command athir runs one internet radio station.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/athir-radio/athir/internal/cli"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/reexec"
)

// version is stamped by the linker.
var version = "dev"

// init keeps main on the main thread, whose children live on when this process replaces
// its own program. Only here is that thread certain.
func init() { runtime.LockOSThread() }

func main() {
	asked, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program the hard way.
	context.AfterFunc(asked, stop)
	ctx, handover, err := reexec.Inherit(asked, version)
	if err == nil {
		thread, ended := proc.NewThread(), make(chan struct{})
		go func() {
			defer close(ended)
			err = cli.Main(ctx, cli.Process{Version: version, Args: os.Args[1:], Out: os.Stdout, Handover: handover, Thread: thread})
		}()
		thread.Serve(ended)
	}
	if asked.Err() == nil {
		err = goOn(handover, err)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "athir: %v\n", err)
		os.Exit(exitCode(err))
	}
}

// exitCode is what an error says that it ends the program with, else 1.
func exitCode(err error) int {
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return 1
}

// goOn replaces this program by the one that was ordered, or by the one before it where this
// one could not begin. It returns where there is none to go on with.
func goOn(handover *reexec.Handover, err error) error {
	switch {
	case handover.CanGoBack():
		fmt.Fprintf(os.Stderr, "athir: version %s cannot take over, going back to %s: %v\n", version, handover.From(), err)
		return errors.Join(err, handover.Back(os.Args))
	case err == nil && handover.Leaving():
		return handover.Exec(os.Args)
	}
	return err
}
