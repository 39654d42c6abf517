package httpend_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/httpend"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// The end of a server waits for the request under way, and for no connection beside it that
// asks nothing.
func TestTheRequestUnderWayIsAnsweredAtTheEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	begun, held := make(chan struct{}, 1), make(chan struct{})
	srv := httpend.Of(&http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/held" {
			begun <- struct{}{}
			<-held
		}
		_, _ = io.WriteString(w, "here")
	})})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(l)
	}()
	open := func() net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	ask := func(c net.Conn, path string) { _, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n") }
	answered := func(c net.Conn) error {
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	held1 := open()
	ask(held1, "/held")
	<-begun
	idle := open()
	ask(idle, "/")
	if err := answered(idle); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	<-served
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		srv.End(time.Minute)
	}()
	close(held)
	if err := answered(held1); err != nil {
		t.Errorf("a request under way: %v", err)
	}
	<-ended
	if _, err := idle.Read(make([]byte, 1)); err == nil {
		t.Error("an idle connection stays open")
	}
}
