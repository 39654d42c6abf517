package opus_test

import (
	"testing"

	"github.com/athir-radio/athir/internal/live/whip/opus"
	"github.com/athir-radio/athir/internal/live/whip/whiptest"
)

// Every mode of the codec decodes to the tone that was encoded, mono in both channels.
func TestEveryModeIsHeard(t *testing.T) {
	for _, c := range []struct {
		what    string
		encoder []string
	}{
		{"SILK", []string{"-application", "voip", "-b:a", "12k", "-ac", "1"}},
		{"hybrid", []string{"-application", "voip", "-b:a", "28k", "-ac", "1"}},
		{"CELT", []string{"-application", "audio", "-b:a", "96k", "-ac", "2"}},
		{"low delay", []string{"-application", "lowdelay", "-b:a", "64k", "-ac", "1", "-frame_duration", "10"}},
		{"60 ms", []string{"-application", "voip", "-b:a", "16k", "-ac", "1", "-frame_duration", "60"}},
	} {
		d := opus.NewDecoder()
		var heard []int16
		samples := 0
		for _, p := range whiptest.Packets(t, "sine=440:d=1", c.encoder...) {
			n, err := opus.Samples(p)
			if err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			audio, err := d.Decode(p)
			if err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			if len(audio) != 2*n {
				t.Fatalf("%s: %d values for %d samples", c.what, len(audio), n)
			}
			for i := range n {
				if l, r := audio[2*i], audio[2*i+1]; l-r > 0.01 || r-l > 0.01 {
					t.Fatalf("%s: left %v, right %v", c.what, l, r)
				}
			}
			if samples += n; samples > 9600 {
				for _, v := range audio {
					heard = append(heard, int16(v*32767))
				}
			}
		}
		if got := whiptest.Level(heard, 440); got < 2700 || got > 4700 { // -18 dBFS, and 3 dB less in each of two channels
			t.Errorf("%s: the tone has an amplitude of %.0f", c.what, got)
		}
	}
}

func TestAPauseOfTheSenderIsSilence(t *testing.T) {
	d := opus.NewDecoder()
	for _, p := range [][]byte{{0x78}, {0x78, 0}, {0x08}, {0xf8}} {
		audio, err := d.Decode(p)
		n, _ := opus.Samples(p)
		if err != nil || len(audio) != 2*n {
			t.Errorf("%x: %d values of %d, %v", p, len(audio), 2*n, err)
		}
		for _, v := range audio {
			if v != 0 {
				t.Fatalf("%x: %v", p, v)
			}
		}
	}
}

// Whatever a packet holds, decoding it is bounded, and the decoder goes on.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "\x78", "\x03\xff", "\xfb\xb0\x01\x02\x03", "\x0b\x81\x05\x01", "\x00\x01\x02\x03\x04", "\xff\xff\xff\xff\xff", "\x63\x82\x00\x01\x99\x88"} {
		f.Add([]byte(seed), []byte("\x78\x01\x02\x03"))
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		d := opus.NewDecoder()
		for _, p := range [][]byte{one, two, one} {
			audio, err := d.Decode(p)
			if err == nil && (len(audio) == 0 || len(audio) > 2*opus.MostSamples) {
				t.Fatalf("%d values", len(audio))
			}
			for _, v := range audio {
				if !(v >= -1 && v <= 1) {
					t.Fatalf("a sample of %v", v)
				}
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	packets := whiptest.Packets(b, "sine=440:d=2", "-application", "voip", "-b:a", "40k")
	d := opus.NewDecoder()
	for i := range b.N {
		if _, err := d.Decode(packets[i%len(packets)]); err != nil {
			b.Fatal(err)
		}
	}
}
