package ffmpeg

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A file that keeps a program busy is refused for good, even when some of it
// was decoded by then: a retry would cost as much again.
func TestFileThatOutlastsTheLimitIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "endless.wav")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // test; both ends, so that it never ends
	if err != nil {
		t.Fatal(err)
	}
	const rate = 8000
	b := []byte("RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = append(b, "\x01\x00\x08\x00data\xff\xff\xff\xff"...)
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		_, _ = pipe.Write(append(b, make([]byte, 1<<20)...))
	}()
	_, err = length(t.Context(), path, time.Second)
	var refused *RefusedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "not done with it after 1s") || strings.Contains(refused.Reason, path) {
		t.Errorf("got %v", err)
	}
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	<-wrote
}
