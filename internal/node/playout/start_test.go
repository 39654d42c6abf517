package playout_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"
)

// BenchmarkColdStart measures from the start of the engine, with Icecast up, to
// the first byte on the mount and to the first whole second of audio there:
// with the parts of the standard library the script uses, and with all of it.
//
//	go test -run '^$' -bench ColdStart -benchtime 5x ./internal/node/playout
func BenchmarkColdStart(b *testing.B) {
	for name, whole := range map[string]bool{"lean": false, "whole": true} {
		b.Run(name, func(b *testing.B) {
			r := newRig(b)
			r.o.WholeLibrary = whole
			r.push(r.list(music(0, 60*second)))
			r.startIcecast()
			var first, decodable time.Duration
			for b.Loop() {
				begin := time.Now()
				kill := r.startEngineOnly()
				body := r.firstAnswer(b)
				first += time.Since(begin)
				readSecond(b, body)
				decodable += time.Since(begin)
				_ = body.Close()
				kill()
				r.reaches(r.offAir)
			}
			b.ReportMetric(first.Seconds()/float64(b.N), "s/first-byte")
			b.ReportMetric(decodable.Seconds()/float64(b.N), "s/first-second")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// firstAnswer polls the mount until it streams.
func (r *rig) firstAnswer(b *testing.B) io.ReadCloser {
	b.Helper()
	client := httpClient(b)
	var body io.ReadCloser
	r.reaches(func() error {
		resp, err := client.Get(r.stream())
		if err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			_ = resp.Body.Close()
			return errors.New("nothing on the mount")
		}
		body = resp.Body
		return nil
	})
	return body
}

// readSecond reads Ogg pages until one ends after the first second.
func readSecond(b *testing.B, body io.Reader) {
	b.Helper()
	in := bufio.NewReader(body)
	header := make([]byte, 27)
	for {
		if _, err := io.ReadFull(in, header); err != nil {
			b.Fatal(err)
		}
		lacing := make([]byte, header[26])
		if _, err := io.ReadFull(in, lacing); err != nil {
			b.Fatal(err)
		}
		size := 0
		for _, n := range lacing {
			size += int(n)
		}
		if _, err := in.Discard(size); err != nil {
			b.Fatal(err)
		}
		if at := int64(binary.LittleEndian.Uint64(header[6:])); at >= 44100 { //nolint:gosec // the format's signed field
			return
		}
	}
}
