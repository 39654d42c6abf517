package role

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/app/doors"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/innerhttp"
	"github.com/athir-radio/athir/internal/web/front"
)

// Reached returns what asks a path of one of this machine's ports.
func Reached(port int, path string) func(context.Context) error {
	client, url := &http.Client{Timeout: 3 * time.Second}, "http://"+config.Local(port)+path
	return func(ctx context.Context) error { return answers(ctx, client, url) }
}

// PartReached returns what asks a live process of a node at its own socket: its port may speak
// TLS under another name.
func PartReached(sockets, part string) func(context.Context) error {
	client := &http.Client{Timeout: 3 * time.Second, Transport: innerhttp.Transport(doors.PartSocket(sockets, part))}
	return func(ctx context.Context) error { return answers(ctx, client, "http://node"+front.LivePath) }
}

// answers returns nil if an address answers 200.
func answers(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, resp.Status)
	}
	return nil
}
