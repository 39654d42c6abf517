package role

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/athir-radio/athir/internal/config"
)

// Reached returns what asks a path of one of this machine's ports.
func Reached(port int, path string) func(context.Context) error {
	client, url := &http.Client{Timeout: 3 * time.Second}, "http://"+config.Local(port)+path
	return func(ctx context.Context) error { return Answers(ctx, client, url) }
}

// Answers returns nil if an address answers 200.
func Answers(ctx context.Context, client *http.Client, url string) error {
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
