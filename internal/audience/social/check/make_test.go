package check_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/sound/wav"
)

const rate = 44_100

// tune is something like music: chords that change, and a beat; stereo.
func tune(seconds float64) []float32 {
	random := rand.New(rand.NewPCG(1, 2))
	roots := []float64{220, 174.6, 261.6, 196}
	out := make([]float32, 0, int(2*rate*seconds))
	for i := range int(rate * seconds) {
		t := float64(i) / rate
		root := roots[int(t*1.5)%len(roots)]
		beat := math.Mod(t, 0.5)
		l := 0.16*math.Sin(2*math.Pi*root*t) + 0.1*math.Sin(2*math.Pi*root*1.5*t) + 0.25*math.Exp(-20*beat)*(2*random.Float64()-1)
		r := l*0.7 + 0.1*math.Sin(2*math.Pi*root*2*t)
		out = append(out, float32(l), float32(r))
	}
	return out
}

// each makes samples of a function of time and channel.
func each(seconds float64, channels int, f func(t float64, channel int) float64) []float32 {
	out := make([]float32, 0, int(rate*seconds)*channels)
	for i := range int(rate * seconds) {
		for c := range channels {
			out = append(out, float32(f(float64(i)/rate, c)))
		}
	}
	return out
}

// changed is a tune of which each frame went through f.
func changed(seconds float64, f func(l, r float32) (float32, float32)) []byte {
	all := tune(seconds)
	for i := 0; i < len(all); i += 2 {
		all[i], all[i+1] = f(all[i], all[i+1])
	}
	return float32s(all, 2)
}

func float32s(samples []float32, channels int) []byte { return wav.Float32(rate, channels, samples) }

func pcm16(samples []float32, channels int) []byte {
	out := make([]int16, len(samples))
	for i, v := range samples {
		out[i] = wav.Quantize(max(-1, min(1, float64(v))))
	}
	return wav.PCM16(rate, channels, out)
}

// kit makes files with ffmpeg, each once.
type kit struct {
	t    *testing.T
	dir  string
	made map[string][]byte
}

func newKit(t *testing.T) *kit {
	k := &kit{t: t, dir: t.TempDir(), made: map[string][]byte{}}
	k.write("tune.wav", pcm16(tune(4), 2))
	return k
}

func (k *kit) write(name string, data []byte) string {
	k.t.Helper()
	path := filepath.Join(k.dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		k.t.Fatal(err)
	}
	return path
}

// as is the tune in a format; args are ffmpeg's.
func (k *kit) as(name string, args ...string) []byte {
	k.t.Helper()
	return k.from("tune.wav", name, args...)
}

func (k *kit) from(source, name string, args ...string) []byte {
	k.t.Helper()
	key := source + name + strings.Join(args, " ")
	if data, ok := k.made[key]; ok {
		return data
	}
	out := filepath.Join(k.dir, "made-"+name)
	all := append([]string{"-nostdin", "-v", "error", "-y", "-i", filepath.Join(k.dir, source)}, args...)
	if text, err := exec.Command("ffmpeg", append(all, out)...).CombinedOutput(); err != nil {
		k.t.Fatalf("%s %v: %v: %s", name, args, err, text)
	}
	data, err := os.ReadFile(out) //nolint:gosec // test
	if err != nil {
		k.t.Fatal(err)
	}
	k.made[key] = data
	return data
}

func (k *kit) mp3() []byte  { return k.as("a.mp3", "-b:a", "128k") }
func (k *kit) m4a() []byte  { return k.as("a.m4a") }
func (k *kit) flac() []byte { return k.as("a.flac") }
func (k *kit) ogg() []byte  { return k.as("a.ogg", "-c:a", "libvorbis") }
func (k *kit) opus() []byte { return k.as("a.opus") }
func (k *kit) wav() []byte  { return k.as("a.wav") }
func (k *kit) wma() []byte  { return k.as("a.wma") }
func (k *kit) mka() []byte  { return k.as("a.mka", "-c:a", "flac") }

// half is the first part of a file.
func half(b []byte) []byte { return b[:len(b)*6/10] }

// swap replaces the first of what is there, which must be.
func (k *kit) swap(data []byte, old, by string) []byte {
	k.t.Helper()
	if !bytes.Contains(data, []byte(old)) {
		k.t.Fatalf("no %q in it", old)
	}
	return bytes.Replace(data, []byte(old), []byte(by), 1)
}

// poke sets bytes at a distance from the first of a mark.
func (k *kit) poke(data []byte, mark string, at int, by ...byte) []byte {
	k.t.Helper()
	i := bytes.Index(data, []byte(mark))
	if i < 0 {
		k.t.Fatalf("no %q in it", mark)
	}
	out := bytes.Clone(data)
	copy(out[i+at:], by)
	return out
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func le32(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
func be32(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// id3 is a tag of version 2.3 with a body, of a declared size.
func id3(declared int, body []byte) []byte {
	n := declared
	return join([]byte{'I', 'D', '3', 3, 0, 0, byte(n >> 21 & 127), byte(n >> 14 & 127), byte(n >> 7 & 127), byte(n & 127)}, body)
}

func frame(id string, declared uint32, flags uint16, body []byte) []byte {
	return join([]byte(id), be32(declared), []byte{byte(flags >> 8), byte(flags)}, body)
}

// header is a WAV whose fields are what they are said to be.
func header(format, channels uint16, rate uint32, bits uint16, declared uint32, data []byte) []byte {
	le16 := func(n uint16) []byte { return binary.LittleEndian.AppendUint16(nil, n) }
	align := channels * bits / 8
	return join([]byte("RIFF"), le32(declared+36), []byte("WAVEfmt "), le32(16), le16(format), le16(channels), le32(rate),
		le32(rate*uint32(align)), le16(align), le16(bits), []byte("data"), le32(declared), data)
}

func box(kind string, parts ...[]byte) []byte {
	body := join(parts...)
	return join(be32(uint32(len(body)+8)), []byte(kind), body)
}

func zipped(k *kit) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("x.txt")
	if err == nil {
		_, err = f.Write([]byte("hello"))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		k.t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

func picture(kind string) []byte {
	img := image.NewPaletted(image.Rect(0, 0, 32, 32), color.Palette{color.Black, color.White})
	var b bytes.Buffer
	switch kind {
	case "png":
		_ = png.Encode(&b, img)
	case "jpeg":
		_ = jpeg.Encode(&b, img, nil)
	case "gif":
		_ = gif.Encode(&b, img, nil)
	}
	return b.Bytes()
}

// hugePicture is a PNG that claims to be 60,000 pixels square.
func hugePicture() []byte {
	data := picture("png")
	copy(data[16:], join(be32(60_000), be32(60_000)))
	copy(data[29:], be32(crc32.ChecksumIEEE(data[12:29])))
	return data
}

// pages writes Ogg: each page holds packets and says where it ends.
func oggPage(serial, sequence uint32, flags byte, granule uint64, packets ...[]byte) []byte {
	var sizes, body []byte
	for _, p := range packets {
		n := len(p)
		for ; n >= 255; n -= 255 {
			sizes = append(sizes, 255)
		}
		sizes = append(sizes, byte(n))
		body = append(body, p...)
	}
	page := join([]byte{'O', 'g', 'g', 'S', 0, flags}, binary.LittleEndian.AppendUint64(nil, granule), le32(serial), le32(sequence), make([]byte, 4),
		[]byte{byte(len(sizes))}, sizes, body)
	copy(page[22:], le32(oggSum(page)))
	return page
}

func oggSum(b []byte) uint32 {
	sum := uint32(0)
	for _, v := range b {
		sum ^= uint32(v) << 24
		for range 8 {
			if sum&(1<<31) != 0 {
				sum = sum<<1 ^ 0x04c11db7
			} else {
				sum <<= 1
			}
		}
	}
	return sum
}

// silentOpus is so many seconds of silence in 27 bytes a second.
func silentOpus(seconds int) []byte {
	head := join([]byte("OpusHead\x01\x01"), []byte{0, 0}, le32(48_000), []byte{0, 0, 0})
	tags := join([]byte("OpusTags"), le32(0), le32(0))
	out := join(oggPage(1, 0, 2, 0, head), oggPage(1, 1, 0, 0, tags))
	packet := []byte{1<<3 | 3, 6} // SILK, six frames of 20 ms, all empty
	granule, sequence := uint64(0), uint32(2)
	for granule < uint64(seconds)*48_000 {
		var packets [][]byte
		for range 250 {
			packets = append(packets, packet)
		}
		granule += 250 * 5760
		flags := byte(0)
		if granule >= uint64(seconds)*48_000 {
			flags = 4
		}
		out = append(out, oggPage(1, sequence, flags, granule, packets...)...)
		sequence++
	}
	return out
}
