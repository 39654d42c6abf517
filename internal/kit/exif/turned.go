package exif

import "image"

// Turned is a picture as its Exif orientation has it, 1 to 8; any other leaves it.
func Turned(from *image.RGBA, turn uint16) *image.RGBA {
	if turn < 2 || turn > 8 {
		return from
	}
	w, h := from.Bounds().Dx(), from.Bounds().Dy()
	size := image.Rect(0, 0, w, h)
	if turn >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	out := image.NewRGBA(size)
	for y := range size.Dy() {
		for x := range size.Dx() {
			u, v := x, y
			switch turn {
			case 2:
				u = w - 1 - x
			case 3:
				u, v = w-1-x, h-1-y
			case 4:
				v = h - 1 - y
			case 5:
				u, v = y, x
			case 6:
				u, v = y, h-1-x
			case 7:
				u, v = w-1-y, h-1-x
			case 8:
				u, v = w-1-y, x
			}
			out.SetRGBA(x, y, from.RGBAAt(u, v))
		}
	}
	return out
}
