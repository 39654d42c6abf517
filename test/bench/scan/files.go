package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/station"
)

// makeFiles writes n files over the ten categories, 250 a folder: four MP3s to
// one FLAC, the same few sounds under tags of their own.
func makeFiles(ctx context.Context, root string, n int) ([]string, error) {
	var mp3s, flacs [][]byte
	for i := range 4 {
		mp3, err := encode(ctx, i, "-f", "mp3", "-b:a", "32k", "-id3v2_version", "0")
		if err != nil {
			return nil, err
		}
		flac, err := encode(ctx, i, "-f", "flac", "-ar", "8000")
		if err != nil {
			return nil, err
		}
		mp3s, flacs = append(mp3s, mp3), append(flacs, flac)
	}
	paths := make([]string, n)
	decks := station.Categories()
	for i := range n {
		deck := decks[i%len(decks)]
		dir := filepath.Join(root, "music", string(deck), fmt.Sprintf("%04d", i/len(decks)/250))
		if i/len(decks)%250 == 0 {
			if err := os.MkdirAll(dir, 0o750); err != nil {
				return nil, err
			}
		}
		t := texts{fmt.Sprintf("أغنية رقم %d", i), fmt.Sprintf("Artist %d", i%997), fmt.Sprintf("Album %d", i%4999)}
		data, ext := t.mp3(mp3s[i%4]), "mp3"
		if i%5 == 4 {
			data, ext = t.flac(flacs[i%4]), "flac"
		}
		paths[i] = filepath.Join(dir, fmt.Sprintf("%s - %06d.%s", t.artist, i, ext))
		if err := os.WriteFile(paths[i], data, 0o600); err != nil {
			return nil, err
		}
	}
	return paths, ctx.Err()
}

// encode goes through a file: into a pipe, FLAC cannot say how long it is.
func encode(ctx context.Context, i int, args ...string) ([]byte, error) {
	f, err := os.CreateTemp("", "athir-scan-")
	if err != nil {
		return nil, err
	}
	defer func() { _, _ = f.Close(), os.Remove(f.Name()) }()
	args = append([]string{"-v", "error", "-y", "-f", "lavfi", "-i", fmt.Sprintf("sine=f=%d:d=3:r=44100", 220<<i)}, args...)
	if _, err := proc.Output(ctx, proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: append(args, f.Name())}, 0); err != nil {
		return nil, err
	}
	return os.ReadFile(f.Name())
}

type texts struct{ title, artist, album string }

// mp3 puts an ID3v2.4 tag before the audio.
func (t texts) mp3(audio []byte) []byte {
	var frames bytes.Buffer
	for _, f := range [][2]string{{"TIT2", t.title}, {"TPE1", t.artist}, {"TALB", t.album}} {
		frames.WriteString(f[0])
		frames.Write(synchsafe(len(f[1]) + 1))
		frames.Write([]byte{0, 0, 3})
		frames.WriteString(f[1])
	}
	out := append([]byte("ID3\x04\x00\x00"), synchsafe(frames.Len())...)
	return append(append(out, frames.Bytes()...), audio...)
}

func synchsafe(n int) []byte {
	return []byte{byte(n >> 21 & 0x7f), byte(n >> 14 & 0x7f), byte(n >> 7 & 0x7f), byte(n & 0x7f)}
}

// flac puts a comment block behind the first metadata block. (A second one, of
// the encoder, follows; readers take the first to name a field.)
func (t texts) flac(audio []byte) []byte {
	const streamInfo = 4 + 4 + 34
	body := binary.LittleEndian.AppendUint32(nil, 0)
	body = binary.LittleEndian.AppendUint32(body, 3)
	for _, c := range []string{"TITLE=" + t.title, "ARTIST=" + t.artist, "ALBUM=" + t.album} {
		body = binary.LittleEndian.AppendUint32(body, uint32(len(c))) //nolint:gosec // short
		body = append(body, c...)
	}
	out := bytes.Clone(audio[:streamInfo])
	out[4] &= 0x7f // not the last block
	out = append(out, 4, byte(len(body)>>16), byte(len(body)>>8), byte(len(body)))
	return append(append(out, body...), audio[streamInfo:]...)
}
