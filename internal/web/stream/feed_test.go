package stream

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// tone is Vorbis in Ogg of a sine, in real time and without end where no length
// is given.
func tone(ctx context.Context, t *testing.T, hz int, seconds float64, out io.Writer) error {
	t.Helper()
	args := []string{"-v", "error"}
	source := fmt.Sprintf("sine=frequency=%d:sample_rate=44100", hz)
	if seconds > 0 {
		source += fmt.Sprintf(":duration=%g", seconds)
	} else {
		args = append(args, "-re")
	}
	args = append(args, "-f", "lavfi", "-i", source, "-ac", "2", "-c:a", "libvorbis", "-page_duration", "200000", "-f", "ogg", "pipe:1")
	exit, err := proc.Run(ctx, proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: args, Stdout: out, Stderr: os.Stderr}, nil)
	if err == nil && !exit.OK() {
		err = errors.New(exit.String())
	}
	return err
}

type writeFunc func([]byte)

func (f writeFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

// What is heard on a channel is the main one, then each programme whole, then
// the main one as it is then: nothing is missing and nothing piles up.
func TestChannelPlaysItsProgrammesWholeAndInTimeBetweenTheMainChannel(t *testing.T) {
	var programme bytes.Buffer
	if err := tone(t.Context(), t, 880, 1.5, &programme); err != nil {
		t.Fatal(err)
	}
	main := run(t, Options{Burst: 1, Source: func(ctx context.Context, write func([]byte)) error {
		return tone(ctx, t, 440, 0, writeFunc(write))
	}})
	testkit.Eventually(t, "the main channel", func() bool { return main.Stats().Upstream == Live })

	waiting, queue := make(chan struct{}, 1), make(chan io.ReadCloser, 2)
	feed := &Feed{Main: main, Waiting: waiting, Next: func(context.Context) io.ReadCloser {
		select {
		case p := <-queue:
			return p
		default:
			return nil
		}
	}}
	f, s := onAir(t, Options{Burst: 1, Source: feed.Run})
	testkit.Eventually(t, "the channel", func() bool { return f.Stats().Upstream == Live })
	c := listen(t, s.URL)
	testkit.Eventually(t, "some of the main channel", func() bool { return len(heardTones(t, c.bytes())) > 5 })
	for range 2 {
		queue <- io.NopCloser(bytes.NewReader(programme.Bytes()))
	}
	began := time.Now()
	waiting <- struct{}{}
	testkit.Eventually(t, "the main channel again", func() bool {
		tones := heardTones(t, c.bytes())
		return len(tones) > 10 && count(tones, 880) > 20 && count(tones[len(tones)-5:], 440) == 5
	})
	took := time.Since(began)
	tones := heardTones(t, c.bytes())
	first := -1
	for i, hz := range tones {
		if hz == 880 && first < 0 {
			first = i
		}
	}
	// Two programmes of 1.5 s, in tenths of a second; a codec's first and last
	// block, and the tenths that hold both tones, may go either way.
	if n := count(tones, 880); n < 27 || n > 32 {
		t.Errorf("%d tenths of the programmes were heard: %v", n, tones)
	}
	for i := first; i < first+27; i++ {
		if tones[i] == 440 {
			t.Errorf("the main channel was heard within a programme: %v", tones)
		}
	}
	if took < 2900*time.Millisecond {
		t.Errorf("3 s of programme were sent within %s", took)
	}
}

func count(all []int, want int) (n int) {
	for _, v := range all {
		if v == want {
			n++
		}
	}
	return n
}

// heardTones decodes what was sent, and says of each tenth of a second whether it
// is 440 or 880 Hz; 0 for anything else.
func heardTones(t *testing.T, ogg []byte) (out []int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "heard.ogg")
	if err := os.WriteFile(path, ogg, 0o600); err != nil {
		t.Fatal(err)
	}
	const rate, tenth = 8000, 800
	pcm, err := proc.Output(t.Context(), proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
		"-v", "quiet", "-i", path, "-ac", "1", "-ar", fmt.Sprint(rate), "-f", "s16le", "pipe:1",
	}}, 8<<20)
	if err != nil {
		return nil // not enough yet
	}
	for ; len(pcm) >= 2*tenth; pcm = pcm[2*tenth:] {
		crossings, last := 0, int16(0)
		for i := 0; i < 2*tenth; i += 2 {
			v := int16(binary.LittleEndian.Uint16(pcm[i:])) //nolint:gosec // samples are signed
			if v != 0 && (v < 0) != (last < 0) {
				crossings++
			}
			last = v
		}
		switch {
		case crossings > 80 && crossings < 96:
			out = append(out, 440)
		case crossings > 166 && crossings < 186:
			out = append(out, 880)
		default:
			out = append(out, 0)
		}
	}
	return out
}
