package input

import (
	"context"
	"io"

	"github.com/athir-radio/athir/internal/kit/fetch"
)

// Doorway opens one for a playlist; entrance is where it is read.
func Doorway(ctx context.Context, client *fetch.Client, address, text string) (d io.Closer, entrance string, err error) {
	opened, err := openDoorway(ctx, client)
	if err != nil {
		return nil, "", err
	}
	entrance, err = opened.enter(address, address, []byte(text))
	return closer(opened.Close), entrance, err
}

type closer func()

func (c closer) Close() error { c(); return nil }
