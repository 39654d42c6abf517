package input_test

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/live/desk/input"
)

// arguments looks at those of our programs whenever something is written to it.
type arguments struct {
	seen, shown atomic.Int32
}

func (a *arguments) Write(p []byte) (int, error) {
	for _, line := range ofChildren("cmdline") {
		a.seen.Add(1)
		if strings.Contains(line, "hush") {
			a.shown.Add(1)
		}
	}
	return len(p), nil
}

// Tokens of addresses are in no argument, which every user of the machine can read, and in
// no error, which goes to logs and to the studio.
func TestNoTokenOfAnAddressIsShown(t *testing.T) {
	base, _ := addresses(t)
	ours := fetch.New(fetch.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close() //nolint:errcheck // only accepts
	var args arguments
	go func() { // an RTMP server that hangs up
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			_, _ = args.Write(nil)
			_ = conn.Close()
		}
	}()
	own := "rtmp://" + server.Addr().String() + "/"
	for _, address := range []string{
		base + "/stream?token=hush", base + "/live.m3u8?token=hush&it's=1", base + "/none?token=hush", base + "/file.m3u8?token=hush",
		"https://" + strings.TrimPrefix(base, "http://") + "/x?token=hush", own + "live/sara?password=hush",
	} {
		in, err := input.New(address, input.Options{Fetch: ours, RTMPOwn: own})
		if err != nil {
			t.Fatal(err)
		}
		before := args.seen.Load()
		err = in.Run(t.Context(), &args)
		if err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", address, err)
		}
		if errors.Is(err, io.EOF) && args.seen.Load() == before {
			t.Errorf("%s: no program was looked at", address)
		}
		t.Log(err)
	}
	if args.shown.Load() > 0 {
		t.Error("a program's arguments show a token")
	}
	if args.seen.Load() < 3 {
		t.Errorf("%d programs were looked at", args.seen.Load())
	}
}
