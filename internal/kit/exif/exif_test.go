package exif_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"testing"

	"github.com/athir-radio/athir/internal/kit/exif"
)

// with returns a JPEG with an Exif segment of an orientation.
func with(t testing.TB, turn uint16, order binary.AppendByteOrder, mark string) []byte {
	t.Helper()
	var data bytes.Buffer
	if err := jpeg.Encode(&data, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	tiff := order.AppendUint32([]byte(mark), 8)
	tiff = order.AppendUint16(tiff, 1)
	tiff = order.AppendUint16(tiff, 0x0112)
	tiff = order.AppendUint16(tiff, 3)
	tiff = order.AppendUint32(tiff, 1)
	tiff = order.AppendUint16(tiff, turn)
	tiff = append(tiff, 0, 0, 0, 0, 0, 0)
	content := append([]byte(exif.Head), tiff...)
	segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(2+len(content)))
	return append(append([]byte{0xff, 0xd8}, append(segment, content...)...), data.Bytes()[2:]...)
}

func TestTheTurnOfAPictureIsRead(t *testing.T) {
	for turn := uint16(0); turn < 10; turn++ {
		want := turn
		if turn < 1 || turn > 8 {
			want = 1
		}
		if got := exif.OrientationOf(with(t, turn, binary.LittleEndian, "II*\x00")); got != want {
			t.Errorf("little-endian %d is read as %d", turn, got)
		}
		if got := exif.OrientationOf(with(t, turn, binary.BigEndian, "MM\x00*")); got != want {
			t.Errorf("big-endian %d is read as %d", turn, got)
		}
	}
	for _, none := range [][]byte{nil, []byte("\xff\xd8"), []byte("\x89PNG"), []byte("\xff\xd8\xff\xe1\x00\x01")} {
		if got := exif.OrientationOf(none); got != 1 {
			t.Errorf("%q is read as %d", none, got)
		}
	}
}

func FuzzOrientationOf(f *testing.F) {
	f.Add(with(f, 6, binary.BigEndian, "MM\x00*"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if turn := exif.OrientationOf(data); turn < 1 || turn > 8 {
			t.Errorf("%d", turn)
		}
	})
}
