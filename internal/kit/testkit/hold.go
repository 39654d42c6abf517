package testkit

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
)

// Hold sends one HTTP request as it is written, to its empty last line, takes the
// answer, and holds the connection until the test ends. net/http would close one of
// its own on a busy machine, whatever it was told to keep.
func Hold(t testing.TB, address, request string) error {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, request); err != nil {
		return err
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	return res.Body.Close()
}
