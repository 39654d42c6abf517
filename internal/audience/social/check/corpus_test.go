package check_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/check"
	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// item is a file of the corpus, and what is to become of it.
type item struct {
	name string
	data []byte
	want string // a code, or "ok" and the notes that must be there
	// make places what is not a plain file.
	make func(path string) error
	as   check.Want // window where it is not that of the others
}

// window is that of the corpus, whose sounds are short.
func window() check.Want { return check.Want{Shortest: time.Second, Longest: 20 * time.Second} }

// trap counts who comes to an address that the hostile files name.
func trap(t *testing.T) (address string, visits *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	visits = &atomic.Int32{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			visits.Add(1)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String(), visits
}

// Every file of the corpus is taken with its notes or refused with its reason; none makes
// the program fetch or run anything, take much memory, or leave a child behind.
func TestTheCorpusOfHostileAndOddFiles(t *testing.T) {
	address, visits := trap(t)
	k := newKit(t)
	secret := k.write("secret.mp3", k.mp3())
	items := slices.Concat(plainFiles(k), cutFiles(k), otherFiles(k), references(k, address, secret), protectedFiles(k),
		lyingFiles(k), tagBombs(k), soundsOf(), polyglots(k), oddOgg(k), namedFiles(k))
	if len(items) < 60 {
		t.Fatalf("only %d files", len(items))
	}
	dir := t.TempDir()
	for i, it := range items {
		t.Run(it.name, func(t *testing.T) {
			path := filepath.Join(dir, fmt.Sprintf("%03d.mp3", i))
			if it.make == nil {
				it.make = func(path string) error { return os.WriteFile(path, it.data, 0o600) }
			}
			if strings.HasPrefix(it.name, "name: ") {
				path = filepath.Join(dir, strings.TrimPrefix(it.name, "name: "))
			}
			if err := it.make(path); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(path) })
			if it.as.Longest == 0 {
				it.as = window()
			}
			judged(t, path, it)
		})
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("%d connections came to the address that the files name", n)
	}
	// A child counts as its own what this process had when it was forked.
	var own, used syscall.Rusage
	if err := errors.Join(syscall.Getrusage(syscall.RUSAGE_SELF, &own), syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used)); err != nil || used.Maxrss > max(400<<10, own.Maxrss) {
		t.Errorf("a program took %d MB, %v", used.Maxrss>>10, err)
	}
	childless(t)
	t.Logf("%d files", len(items))
}

func judged(t *testing.T, path string, it item) {
	t.Helper()
	found, err := check.File(t.Context(), path, it.as, nil)
	want := strings.Fields(it.want)
	var r *refusal.Refusal
	switch {
	case errors.As(err, &r):
		if want[0] != string(r.Code) {
			t.Errorf("refused as %s (%s), want %s", r.Code, r.Note, it.want)
		}
		if strings.Contains(r.Note, path) || len(r.Note) > 400 {
			t.Errorf("the note %q", r.Note)
		}
	case err != nil:
		t.Errorf("our fault: %v", err)
	case want[0] != "ok":
		t.Errorf("taken (%v, %s, notes %v), want %s", found.Trimmed(), found.Codec, found.Notes, it.want)
	default:
		for _, n := range want[1:] {
			if !slices.Contains(found.Notes, n) {
				t.Errorf("notes %v lack %s", found.Notes, n)
			}
		}
		if slices.Contains(found.Notes, check.NotePolyglot) != slices.Contains(want, check.NotePolyglot) {
			t.Errorf("notes %v, want %s", found.Notes, it.want)
		}
		if len(found.Peaks) != 200 || len(found.Spectrum.Power) != 48*120 || found.Trimmed() <= 0 || found.Duration < found.Trimmed() {
			t.Errorf("%+v", found)
		}
	}
}

// childless fails when this process has a child.
func childless(t *testing.T) {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(lists) == 0 {
		t.Fatalf("no lists of children: %v", err)
	}
	for _, list := range lists {
		if text, err := os.ReadFile(list); err == nil && len(strings.TrimSpace(string(text))) > 0 { //nolint:gosec // of /proc
			t.Errorf("children are left: %s", text)
		}
	}
}

func plainFiles(k *kit) []item {
	return []item{
		{name: "mp3", data: k.mp3(), want: "ok"},
		{name: "m4a", data: k.m4a(), want: "ok"},
		{name: "flac", data: k.flac(), want: "ok"},
		{name: "ogg", data: k.ogg(), want: "ok"},
		{name: "opus", data: k.opus(), want: "ok"},
		{name: "wav", data: k.wav(), want: "ok"},
		{name: "wma", data: k.wma(), want: "ok"},
		{name: "mka", data: k.mka(), want: "ok"},
		{name: "webm", data: k.as("a.webm", "-c:a", "libopus"), want: "ok"},
		{name: "aiff", data: k.as("a.aiff"), want: "ok"},
		{name: "aac without a container", data: k.as("a.aac"), want: "ok"},
		{name: "wavpack", data: k.as("a.wv"), want: "ok"},
		{name: "tta", data: k.as("a.tta"), want: "ok"},
		{name: "caf", data: k.as("a.caf"), want: "ok"},
		{name: "8-bit wav", data: k.as("u8.wav", "-c:a", "pcm_u8"), want: "ok"},
		{name: "amr", data: amr(200), want: "ok mono narrow_band"},
		{name: "ac-3 without a container", data: k.as("a.ac3"), want: "not_audio"},
		{name: "mp3 within wav", data: k.as("mp3.wav", "-c:a", "libmp3lame"), want: "ok"},
		{name: "flac within ogg", data: k.as("flac.oga", "-c:a", "flac"), want: "ok"},
		{name: "5.1", data: k.as("six.flac", "-ac", "6"), want: "ok"},
		{name: "two sound tracks", data: k.as("two.m4a", "-map", "0:a", "-map", "0:a"), want: "ok several_tracks"},
		{name: "video with sound", data: k.as("v.mp4", "-f", "lavfi", "-i", "testsrc=d=4:s=128x96:r=5", "-map", "0:a", "-map", "1:v", "-shortest"), want: "ok video_sound_only"},
		{name: "video without sound", data: k.as("mute.mp4", "-f", "lavfi", "-i", "testsrc=d=2:s=128x96:r=5", "-map", "1:v"), want: "video_only"},
		{name: "matroska without sound", data: k.as("mute.mkv", "-f", "lavfi", "-i", "testsrc=d=2:s=128x96:r=5", "-map", "1:v", "-c:v", "mjpeg"), want: "video_only"},
	}
}

// amr is so many frames of 20 ms, of random parameters: Debian's ffmpeg has no encoder.
func amr(frames int) []byte {
	out := []byte("#!AMR\n")
	for i := range frames {
		out = append(append(out, 0x3c), noise(31 + i)[:31]...)
	}
	return out
}

func cutFiles(k *kit) []item {
	return []item{
		{name: "cut mp3", data: half(k.mp3()), want: "truncated"},
		{name: "cut m4a, its index at the end", data: half(k.m4a()), want: "truncated"},
		{name: "cut m4a, its index at the start", data: half(k.as("f.m4a", "-movflags", "faststart")), want: "truncated"},
		{name: "cut flac", data: half(k.flac()), want: "truncated"},
		{name: "cut ogg", data: half(k.ogg()), want: "truncated"},
		{name: "cut opus", data: half(k.opus()), want: "truncated"},
		{name: "cut wav", data: half(k.wav()), want: "truncated"},
		{name: "cut wma", data: half(k.wma()), want: "truncated"},
		{name: "cut mka", data: half(k.mka()), want: "truncated"},
		{name: "cut aiff", data: half(k.as("a.aiff")), want: "truncated"},
		{name: "cut wavpack", data: half(k.as("a.wv")), want: "truncated"},
		{name: "cut aac, which has no length", data: half(k.as("a.aac")), want: "ok"},
		{name: "mp3 damaged in its middle", data: spoil(k.mp3()), want: "damaged"},
		{name: "flac damaged in its middle", data: spoil(k.flac()), want: "damaged"},
		{name: "m4a damaged in its middle", data: spoil(k.m4a()), want: "damaged"},
		{name: "ogg damaged in its middle", data: spoil(k.ogg()), want: "damaged"},
		{name: "mp3 behind garbage", data: join(noise(1500), k.mp3()), want: "ok"},
	}
}

// spoil overwrites much of the middle.
func spoil(data []byte) []byte {
	out := slices.Clone(data)
	for at := len(out) / 4; at+60 < len(out)*3/4; at += 700 {
		copy(out[at:at+60], noise(60))
	}
	return out
}

func otherFiles(k *kit) []item {
	own, err := os.Executable()
	if err != nil {
		k.t.Fatal(err)
	}
	return []item{
		{name: "empty", want: "empty"},
		{name: "one byte", data: []byte{0xff}, want: "not_audio"},
		{name: "random bytes", data: noise(200_000), want: "not_audio"},
		{name: "zeros", data: make([]byte, 200_000), want: "not_audio"},
		{name: "text", data: []byte(strings.Repeat("these are only words\n", 900)), want: "not_audio"},
		{name: "arabic text", data: []byte(strings.Repeat("كلام فقط لا غير\n", 9000)), want: "not_audio"},
		{name: "html", data: []byte("<!DOCTYPE html><html><script>fetch('/')</script></html>"), want: "not_audio"},
		{name: "svg", data: []byte(`<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>`), want: "not_audio"},
		{name: "shell script", data: []byte("#!/bin/sh\ntouch /tmp/ran\n"), want: "not_audio"},
		{name: "png", data: picture("png"), want: "not_audio"},
		{name: "jpeg", data: picture("jpeg"), want: "not_audio"},
		{name: "gif", data: picture("gif"), want: "not_audio"},
		{name: "webp", data: join([]byte("RIFF"), le32(40), []byte("WEBPVP8L"), le32(28), noise(28)), want: "not_audio"},
		{name: "pdf", data: []byte("%PDF-1.7\n1 0 obj\n<< >>\nendobj\ntrailer << >>\n%%EOF\n"), want: "not_audio"},
		{name: "a program", make: func(path string) error {
			data, err := os.ReadFile(own) //nolint:gosec // test
			if err != nil {
				return err
			}
			return os.WriteFile(path, data[:min(len(data), 1<<20)], 0o700) //nolint:gosec // it could be run
		}, want: "not_audio"},
		{name: "zip", data: zipped(k), want: "not_audio"},
		{name: "gzip of an mp3", data: gzipped(k.mp3()), want: "not_audio"},
		{name: "midi", data: join([]byte("MThd"), be32(6), []byte{0, 0, 0, 1, 0, 96}, []byte("MTrk"), be32(4), []byte{0, 0xff, 0x2f, 0}), want: "not_audio"},
		{name: "tracker module", data: join(make([]byte, 1080), []byte("M.K."), make([]byte, 8000)), want: "not_audio"},
		{name: "pipe", make: func(path string) error { return syscall.Mkfifo(path, 0o600) }, want: "not_audio"},
		{name: "link", make: func(path string) error { return os.Symlink(k.write("target.mp3", k.mp3()), path) }, want: "not_audio"},
		{name: "folder", make: func(path string) error { return os.Mkdir(path, 0o700) }, want: "not_audio"},
		{name: "too large", make: func(path string) error {
			if err := os.WriteFile(path, k.mp3(), 0o600); err != nil {
				return err
			}
			return os.Truncate(path, check.MostBytes+1)
		}, want: "too_large"},
	}
}

// references name other files and hosts.
func references(k *kit, address, secret string) []item {
	url := "http://" + address + "/x.ts"
	lists := map[string]string{
		"hls":            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n" + url + "\n#EXT-X-ENDLIST\n",
		"hls with a key": "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-KEY:METHOD=AES-128,URI=\"" + url + "\"\n#EXTINF:1,\nfile://" + secret + "\n#EXT-X-ENDLIST\n",
		"m3u":            "\xef\xbb\xbf#EXTM3U\n" + secret + "\n", "pls": "[playlist]\nNumberOfEntries=1\nFile1=" + url + "\n",
		"ffconcat":           "ffconcat version 1.0\nfile '" + secret + "'\nfile '" + url + "'\n",
		"sdp":                "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 5004 RTP/AVP 0\r\n",
		"rtsp":               "RTSPtextRTSP://" + address + "/x",
		"asx":                "<ASX version=\"3.0\"><Entry><Ref href=\"" + url + "\"/></Entry></ASX>",
		"xspf":               "<?xml version=\"1.0\"?><playlist><trackList><track><location>" + url + "</location></track></trackList></playlist>",
		"dash":               "<?xml version=\"1.0\"?><MPD><Period><AdaptationSet><SegmentTemplate media=\"" + url + "\"/></AdaptationSet></Period></MPD>",
		"internet shortcut":  "[InternetShortcut]\r\nURL=" + url + "\r\n",
		"data address":       "data:audio/mpeg;base64,SUQz",
		"file address":       "file:///etc/passwd",
		"list behind blanks": "\n\n  \t#EXTM3U\n" + url + "\n",
		"imf":                "<?xml version=\"1.0\"?><CompositionPlaylist xmlns=\"x\"></CompositionPlaylist>",
	}
	var out []item
	for name, text := range lists {
		out = append(out, item{name: name, data: []byte(text), want: "playlist"})
	}
	for i := range out {
		if out[i].name == "imf" {
			out[i].want = "not_audio"
		}
	}
	slices.SortFunc(out, func(a, b item) int { return strings.Compare(a.name, b.name) })
	linked := k.poke(k.mka(), "\x73\xa4\x90", 0, 0x3e, 0xb9, 0x23, 0x8f) // SegmentUID becomes NextUID
	return append(out,
		item{name: "list behind a tag", data: join(id3(10, make([]byte, 10)), []byte(lists["hls"])), want: "playlist"},
		item{name: "list in a zip's clothes", data: []byte("#EXTM3U\n" + url + "\n\x00\x01\x02"), want: "playlist"},
		item{name: "mp4 of another file's sound", data: k.poke(k.m4a(), "url ", 7, 0), want: "playlist"},
		item{name: "mp4 that names its file", data: join(box("ftyp", []byte("qt  \x00\x00\x00\x00")), box("moov", box("trak", box("mdia", box("minf", box("dinf",
			box("dref", be32(0), be32(1), box("url ", be32(0), []byte(url+"\x00")))))))), box("mdat", noise(100))), want: "playlist"},
		item{name: "matroska with attachments", data: k.from("tune.wav", "att.mka", "-c:a", "flac", "-attach", secret, "-metadata:s:t", "mimetype=application/octet-stream"), want: "ok attachments"},
		item{name: "matroska with linked segments", data: linked, want: "ok linked_segments"},
	)
}

func protectedFiles(k *kit) []item {
	asfLock := "\x14\xe6\x8a\x29\x22\x26\x17\x4c\xb9\x35\xda\xe0\x7e\xe9\x28\x9c"
	codecList := "\x40\x52\xd1\x86\x1d\x31\xd0\x11\xa3\xa4\x00\xa0\xc9\x03\x48\xf6"
	element := func(id string, parts ...[]byte) []byte {
		body := join(parts...)
		return join([]byte(id), []byte{0x40 | byte(len(body)>>8), byte(len(body))}, body)
	}
	locked := element("\x6d\x80", element("\x62\x40", element("\x50\x35", noise(10))))
	return []item{
		{name: "m4p of a shop", data: k.swap(k.m4a(), "mp4a", "drms"), want: "protected"},
		{name: "encrypted mp4", data: k.swap(k.m4a(), "mp4a", "enca"), want: "protected"},
		{name: "encrypted fragments", data: k.swap(k.as("frag.mp4", "-movflags", "frag_keyframe+empty_moov"), "mp4a", "enca"), want: "protected"},
		{name: "encrypted by ffmpeg", data: k.as("cenc.mp4", "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", "76a6c65c5ea762046bd749a2e632ccbb",
			"-encryption_kid", "a7e61c373e219033c21091fa607bf3b8"), want: "protected"},
		{name: "audible aax", data: k.poke(k.m4a(), "ftyp", 4, 'a', 'a', 'x', ' '), want: "protected"},
		{name: "audible aa", data: join(be32(10_000), []byte("\x57\x90\x75\x36"), noise(10_000)), want: "protected"},
		{name: "protected wma", data: k.swap(k.wma(), codecList, asfLock), want: "protected"},
		{name: "encrypted matroska", data: join(element("\x1a\x45\xdf\xa3", element("\x42\x82", []byte("matroska"))),
			element("\x18\x53\x80\x67", element("\x16\x54\xae\x6b", element("\xae", locked)))), want: "protected"},
	}
}

func lyingFiles(k *kit) []item {
	data := k.wav()[len(k.wav())-4*rate*4:]
	return []item{
		{name: "1 Hz", data: header(1, 1, 1, 16, 200, noise(200)), want: "odd_rate"},
		{name: "4 GHz", data: header(1, 1, 4_000_000_000, 16, 20_000, noise(20_000)), want: "not_audio"},
		{name: "3 MHz", data: header(1, 1, 3_000_000, 16, 20_000, noise(20_000)), want: "odd_rate"},
		{name: "255 channels", data: header(1, 255, 44_100, 8, 255*44_100, noise(255*44_100)), want: "odd_rate"},
		{name: "no channel", data: header(1, 0, 44_100, 16, 88_200, noise(88_200)), want: "damaged"},
		{name: "no bits", data: header(1, 2, 44_100, 0, 88_200, noise(88_200)), want: "not_audio"},
		{name: "wav that claims more than it holds", data: header(1, 2, rate, 16, 900_000_000, data), want: "truncated"},
		{name: "wav of unknown length", data: header(1, 2, rate, 16, 0xffffffff, data), want: "ok"},
		{name: "wav without data", data: header(1, 2, rate, 16, 0, nil), want: "damaged"},
		{name: "mp3 of tags alone", data: id3(1000, make([]byte, 1000)), want: "not_audio"},
		{name: "flac of headers alone", data: k.flac()[:100], want: "truncated"},
		{name: "flac that claims 10 hours", data: k.poke(k.flac(), "fLaC", 8+14, 0x5e, 0xa2, 0xe8, 0x80), want: "too_long"},
		{name: "mp4 whose header claims 10 hours", data: k.poke(k.m4a(), "mdhd", 20, 0x7f, 0xff, 0xff, 0xff), want: "ok"},
		{name: "mp4 of a billion samples", data: k.poke(k.poke(k.m4a(), "stsz", 8, 0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff), "stts", 12, 0x7f, 0xff, 0xff, 0xff), want: "damaged"},
		{name: "mp4 of boxes within boxes", data: join(box("ftyp", []byte("M4A \x00\x00\x00\x00")), nest(3000)), want: "not_audio"},
		{name: "mp4 of endless boxes", data: join(box("ftyp", []byte("M4A \x00\x00\x00\x00")), bytes.Repeat(box("free"), 50_000)), want: "truncated"},
		{name: "10 hours of silence", data: silentOpus(36_000), want: "too_long"},
		{name: "too long by a second", data: pcm16(tune(21), 2), want: "too_long"},
		{name: "too short", data: pcm16(tune(0.5), 2), want: "too_short"},
		{name: "long only by the silence at its ends", data: pcm16(slices.Concat(make([]float32, 30*rate), tune(10), make([]float32, 30*rate)), 2), want: "ok"},
	}
}

func nest(depth int) []byte {
	out := []byte{}
	for range depth {
		out = box("moov", out)
	}
	return out
}

func tagBombs(k *kit) []item {
	zeros := gzipped(make([]byte, 20<<20))
	packed := join(be32(200<<20), []byte{0x78, 0xda}, zeros)
	huge := hugePicture()
	apic := join([]byte{0}, []byte("image/png\x00\x03\x00"), huge)
	return []item{
		{name: "tag that unpacks to 200 MB", data: join(id3(len(packed)+10, frame("APIC", uint32(len(packed)), 0x80, packed)), k.mp3()), want: "tags_absurd"},
		{name: "tag of 100 MB", make: func(path string) error { return sparse(path, id3(100<<20, nil), 100<<20, k.mp3()) }, want: "tags_absurd"},
		{name: "tag of 20 MB of zeros", make: func(path string) error { return sparse(path, id3(20<<20, nil), 20<<20, k.mp3()) }, want: "ok"},
		{name: "tag longer than its file", data: join(id3(20<<20, nil), k.mp3()), want: "truncated"},
		{name: "tag with a frame of 2 GB", data: join(id3(1000, join(frame("APIC", 1<<31, 0, nil), make([]byte, 990))), k.mp3()), want: "ok"},
		{name: "picture of 60,000 pixels square", data: join(id3(len(apic)+10, frame("APIC", uint32(len(apic)), 0, apic)), k.mp3()), want: "ok"},
		{name: "a thousand tags", data: join(bytes.Repeat(id3(0, nil), 1000), k.mp3()), want: "ok"},
	}
}

// sparse writes a file with a hole of so many bytes.
func sparse(path string, before []byte, hole int64, after []byte) error {
	f, err := os.Create(path) //nolint:gosec // test
	if err != nil {
		return err
	}
	_, err = f.Write(before)
	if err == nil {
		_, err = f.WriteAt(after, int64(len(before))+hole)
	}
	return errors.Join(err, f.Close())
}

func polyglots(k *kit) []item {
	return []item{
		{name: "mp3 with a zip behind it", data: join(k.mp3(), zipped(k)), want: "ok polyglot"},
		{name: "zip with an mp3 behind it", data: join(zipped(k), k.mp3()), want: "ok polyglot"},
		{name: "gif with an mp3 behind it", data: join(picture("gif"), k.mp3()), want: "not_audio"},
		{name: "png with an mp3 behind it", data: join(picture("png"), k.mp3()), want: "not_audio"},
		{name: "html with an mp3 behind it", data: join([]byte("<html><script>alert(1)</script>"), k.mp3()), want: "ok polyglot"},
		{name: "pdf with an mp3 behind it", data: join([]byte("%PDF-1.7\n"), k.mp3()), want: "ok polyglot"},
		{name: "program with an mp3 behind it", data: join([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57), k.mp3()), want: "ok polyglot"},
		{name: "mp4 with an mp3 behind it", data: join(k.m4a(), k.mp3()), want: "ok"},
	}
}

func oddOgg(k *kit) []item {
	mono := k.as("mono.opus", "-ac", "1")
	ogg := k.ogg()
	second := strings.Index(string(ogg[4:]), "OggS") + 4
	return []item{
		{name: "ogg of headers alone", data: ogg[:second], want: "truncated"},
		{name: "chained ogg", data: join(ogg, k.from("tune.wav", "b.ogg", "-c:a", "libvorbis", "-serial_offset", "7")), want: "ok"},
		{name: "opus that becomes mono", data: join(k.opus(), mono), want: "ok"},
		{name: "opus that becomes stereo", data: join(mono, k.opus()), want: "ok"},
	}
}

func namedFiles(k *kit) []item {
	var out []item
	for _, name := range []string{"two\nlines.mp3", "'quotes' \"and\" `more` $(id).mp3", "أغنية.mp3", "-i.mp3", "concat:a|b.mp3", "%d %03d.mp3", "caf\xe9.mp3", "..mp3"} {
		out = append(out, item{name: "name: " + name, data: k.mp3(), want: "ok"})
	}
	return out
}
