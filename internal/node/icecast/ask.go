package icecast

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// askAgain is how long a question waits for its answer before it is asked once more.
const askAgain = 500 * time.Millisecond

// ask returns the body of a page, cut off after limit bytes.
//
// Icecast 2.4.4 now and then keeps an answer that is ready to itself until somebody
// asks for something else: the thread that sends pages ends when it has nothing to
// send, and does not see what it is given in that moment (fserve.c looks at the
// pending list without its lock; seen once in some 10,000 questions on a busy
// machine). Asked again, it sends both answers. The first question stays open, so
// that a server that is only slow is not given up.
func ask(client *http.Client, req *http.Request, limit int64) ([]byte, error) {
	type answer struct {
		body []byte
		err  error
	}
	var asking sync.WaitGroup
	defer asking.Wait()
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	answers := make(chan answer, 2)
	put := func() {
		body, err := get(client, req.Clone(ctx), limit)
		answers <- answer{body, err}
	}
	asking.Go(put)
	again := time.NewTimer(askAgain)
	defer again.Stop()
	select {
	case a := <-answers:
		return a.body, a.err
	case <-again.C:
		asking.Go(put)
	}
	a := <-answers
	if a.err != nil {
		a = <-answers
	}
	return a.body, a.err
}

// errFull: the server has as many connections as it may, and refuses one more. It works,
// and its listeners hear the station.
var errFull = fmt.Errorf("Icecast: raise icecast.max_clients: %w", station.ErrFull)

// errLogin: the administrator's password is another.
var errLogin = errors.New("Icecast: it goes by another source password than this machine's settings have: give both machines the same")

func get(client *http.Client, req *http.Request, limit int64) ([]byte, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusOK:
		return io.ReadAll(io.LimitReader(resp.Body, limit))
	case http.StatusForbidden:
		return nil, errFull
	case http.StatusUnauthorized:
		return nil, errLogin
	}
	return nil, fmt.Errorf("status %s", resp.Status)
}
