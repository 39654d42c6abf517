// Command athir runs one internet radio station.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/athir-radio/athir/internal/cli"
)

// version is stamped by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program the hard way.
	context.AfterFunc(ctx, stop)
	if err := cli.Main(ctx, version, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "athir: %v\n", err)
		os.Exit(1)
	}
}
