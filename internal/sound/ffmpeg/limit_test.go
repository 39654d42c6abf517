package ffmpeg

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// What is not done in time says nothing of the file, even when some of it was decoded
// by then: it must be told from a refusal, which is for good.
func TestDecoderThatStallsIsNotTheFilesFault(t *testing.T) {
	path, pipe := endless(t)
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
	_, err := length(t.Context(), path, time.Hour, time.Second)
	var refused *RefusedError
	var late *UnfinishedError
	if errors.As(err, &refused) || !errors.As(err, &late) || !late.Timeout() || late.Reason != "ffmpeg decoded nothing for 1s" {
		t.Errorf("got %v", err)
	}
	silent, _ := endless(t) // of its own: an ffmpeg that was slow to start has left what an ffprobe is content with
	err = run(t.Context(), "ffprobe", silent, time.Second, &collector{}, "-v", "error", "file:"+silent)
	if errors.As(err, &refused) || !errors.As(err, &late) || late.Reason != "ffprobe was not done with it after 1s" {
		t.Errorf("got %v", err)
	}
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	<-wrote
}

// endless is a file that never ends, and what is written into it.
func endless(t *testing.T) (string, *os.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "endless.wav")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // test; both ends, so that it never ends
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pipe.Close() })
	return path, pipe
}
