// Package docs holds the manuals to what they say.
package docs

import (
	"os"
	"path/filepath"
	"testing"
)

// root is the repository's, from here.
const root = "../.."

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
