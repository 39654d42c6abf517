package delivery_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/onair/delivery/deliverytest"
)

func TestIntactIsOnlyWhatWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.m3u")
	local := prepared(t, path)
	intact := func() bool {
		t.Helper()
		ok, err := local.Intact(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if intact() {
		t.Error("before the first list")
	}
	ours, other := deliverytest.List(t, "ours", 100), deliverytest.List(t, "other", 100)
	if err := local.Write(t.Context(), ours); err != nil {
		t.Fatal(err)
	}
	if !intact() {
		t.Error("after a write")
	}
	for name, data := range map[string][]byte{
		"emptied": nil, "a line of its own": []byte("/a.mp3\n"), "a whole list of somebody": other, "a byte": bytes.Replace(ours, []byte("ours"), []byte("Ours"), 1),
	} {
		write(t, path, data)
		if intact() {
			t.Errorf("%s is taken for ours", name)
		}
		write(t, path, ours)
		if !intact() {
			t.Errorf("%s, and put right", name)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if intact() {
		t.Error("deleted")
	}
	write(t, path, nil)
	write(t, path+".journal", nil)
	if intact() {
		t.Error("both emptied")
	}
}
