package face

import "strconv"

// Where the files of a face are served.
const (
	LogoPath     = "/face/logo.png"
	ThemePath    = "/face/theme.css"
	CustomPath   = "/face/custom.css"
	MaskablePath = "/face/icon-maskable-512.png"
	FaviconPath  = "/favicon.ico"
	ManifestPath = "/manifest.webmanifest"
)

// IconPath is where the icon of a size is.
func IconPath(size int) string { return "/face/icon-" + strconv.Itoa(size) + ".png" }

// Address is a path of a file with the version in it: another version has another address.
func (s *State) Address(path string) string { return Address(path, s.Version) }

// Address is a path with a version in it.
func Address(path string, version int64) string {
	return path + "?v=" + strconv.FormatInt(version, 10)
}
