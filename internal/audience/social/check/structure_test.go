package check

import (
	"bytes"
	"errors"
	"testing"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
)

// counting counts what is asked of a file.
type counting struct {
	*bytes.Reader
	calls int
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	c.calls++
	return c.Reader.ReadAt(p, at)
}

// Whatever the bytes are: the look ends, within its reads, with a refusal that has words or
// with nothing.
func FuzzLook(f *testing.F) {
	box := func(kind string, body string) string {
		n := len(body) + 8
		return string([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) + kind + body
	}
	for _, seed := range []string{
		"", "ID3\x03\x00\x00\x00\x00\x00\x14APIC\x00\x00\x00\x0a\x00\x80\x7f\xff\xff\xff123456", "#EXTM3U\n", "<html>", "PK\x03\x04\x00", "#!AMR\n\x3c",
		box("ftyp", "M4A ") + box("moov", box("trak", box("mdia", box("minf", box("stbl", box("stsd", "\x00\x00\x00\x00\x00\x00\x00\x01"+box("drms", "x"))))))),
		box("ftyp", "qt  ") + box("moov", box("trak", box("mdia", box("minf", box("dinf", box("dref", "\x00\x00\x00\x00\x00\x00\x00\x01"+box("url ", "\x00\x00\x00\x00"))))))),
		"\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff\x16\x54\xae\x6b\x8b\xae\x89\x6d\x80\x86\x62\x40\x83\x50\x35\x80",
		string(asfHeader()) + "\x40\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x02\x14\xe6\x8a\x29\x22\x26\x17\x4c\xb9\x35\xda\xe0\x7e\xe9\x28\x9c\x18\x00\x00\x00\x00\x00\x00\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &counting{Reader: bytes.NewReader(data)}
		s, err := look(r, int64(len(data)))
		var refused *refusal.Refusal
		if err != nil && !errors.As(err, &refused) || s == nil {
			t.Fatalf("%v, %v", s, err)
		}
		if r.calls > mostReads+8 {
			t.Fatalf("%d reads", r.calls)
		}
	})
}

// A disk that cannot be read is not the file's fault.
func TestADiskFaultIsNoRefusal(t *testing.T) {
	_, err := look(brokenDisk{}, 1<<20)
	if !errors.Is(err, errDisk) {
		t.Error(err)
	}
}

var errDisk = errors.New("input/output error")

type brokenDisk struct{}

func (brokenDisk) ReadAt([]byte, int64) (int, error) { return 0, errDisk }
