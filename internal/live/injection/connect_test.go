package injection

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A desk that does not answer, or takes no more audio, is given up after
// exactly as long as it may take; one that is slow, yet within that, is not.
func TestADeskThatStandsStillIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go io.Copy(io.Discard, theirs) //nolint:errcheck // it reads and says nothing
		begun := time.Now()
		if err := enter(t.Context(), ours, "sesame", "audio/webm", "أثير"); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begun) != deskWait {
			t.Errorf("a desk that does not answer: %v after %s", err, time.Since(begun))
		}
		_ = theirs.Close()
	})
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go func() {
			in := bufio.NewReader(theirs)
			if _, err := http.ReadRequest(in); err != nil {
				t.Error(err)
			}
			time.Sleep(deskWait - time.Second)
			_, _ = io.WriteString(theirs, "HTTP/1.0 200 OK\r\n\r\n")
			time.Sleep(2 * deskWait) // on air, and nothing to send for a while
			_, _ = io.ReadFull(in, make([]byte, 5))
		}()
		if err := enter(t.Context(), ours, "sesame", "audio/webm", "أثير"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * deskWait)
		desk := patient{ours}
		if _, err := desk.Write([]byte("audio")); err != nil {
			t.Errorf("after a while without audio: %v", err)
		}
		begun := time.Now()
		if _, err := desk.Write([]byte("more")); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begun) != deskWait {
			t.Errorf("a desk that takes no more: %v after %s", err, time.Since(begun))
		}
		_ = theirs.Close()
	})
}
