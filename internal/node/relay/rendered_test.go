package relay

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A playlist is rendered once for all listeners, until the window moves; each has its
// own session behind every URI.
func TestAPlaylistIsRenderedOnceForAllListeners(t *testing.T) {
	now := time.Now()
	w := newWindow(three(), 2*time.Second, 4, 1, now)
	if text, err := w.text("?session=a"); text != nil || err != nil {
		t.Fatalf("an empty window gave %q, %v", text, err)
	}
	for round := range 3 {
		for i := range 4 {
			w.add(cut{at: now.Add(time.Duration(4*round+i) * 2 * time.Second), duration: 2 * time.Second, sound: soundOf(stereo), data: [][]byte{[]byte("audio"), []byte("less")}}, round > 0 && i == 0, now)
		}
		before := w.renders
		plain, err := w.text("")
		if err != nil || strings.Contains(string(plain), mark) || !strings.Contains(string(plain), fmt.Sprintf("seg%d.m4s\n", w.sequence-1)) {
			t.Fatalf("%q, %v", plain, err)
		}
		for i := range 100 {
			suffix := fmt.Sprintf("?session=%d", i)
			own, err := w.text(suffix)
			if err != nil || strings.ReplaceAll(string(own), suffix, "") != string(plain) || strings.Count(string(own), ".m4s"+suffix+"\n") != len(w.listed) {
				t.Fatalf("listener %d: %q, %v", i, own, err)
			}
			if master, err := w.masterText(suffix); err != nil || !strings.Contains(string(master), "\n"+mediaName+suffix+"\n") {
				t.Fatalf("listener %d: %q, %v", i, master, err)
			}
		}
		if n := w.renders - before; n != 2 {
			t.Errorf("round %d: %d playlists were rendered for 100 listeners, want the media and the master playlist", round, n)
		}
	}
}

// writes counts the writes of an answer.
type writes struct {
	*httptest.ResponseRecorder
	n int
}

func (w *writes) Write(p []byte) (int, error) {
	w.n++
	return w.ResponseRecorder.Write(p)
}

// A whole segment is one write, without a copy; a part of it is answered as before.
func TestASegmentIsWrittenWhole(t *testing.T) {
	s, err := New(Options{StateDir: t.TempDir(), PublishAddress: "unix:" + t.TempDir() + "/p", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	audio := strings.Repeat("audio of a segment ", 5000)
	s.window.add(cut{at: time.Now(), duration: 2 * time.Second, sound: soundOf(stereo), data: [][]byte{[]byte(audio)}}, false, time.Now())
	token, _ := s.sessions.begin(time.Now(), nil)
	ask := func(method, part string) *writes {
		r := httptest.NewRequest(method, fmt.Sprintf("/main/seg%d.m4s?session=%s", s.window.sequence-1, token), nil)
		if part != "" {
			r.Header.Set("Range", part)
		}
		w := &writes{ResponseRecorder: httptest.NewRecorder()}
		s.hlsHandler().ServeHTTP(w, r)
		return w
	}
	sent := s.count.bytesSent.Load()
	whole := ask(http.MethodGet, "")
	if whole.Code != http.StatusOK || whole.Body.String() != audio || whole.n != 1 || whole.Header().Get("Content-Length") != fmt.Sprint(len(audio)) || whole.Header().Get("Accept-Ranges") != "bytes" {
		t.Errorf("%d, %d bytes in %d writes, %v", whole.Code, whole.Body.Len(), whole.n, whole.Header())
	}
	if n := s.count.bytesSent.Load() - sent; n != uint64(len(audio)) {
		t.Errorf("%d bytes counted", n)
	}
	if head := ask(http.MethodHead, ""); head.Code != http.StatusOK || head.Body.Len() != 0 || head.Header().Get("Content-Length") != fmt.Sprint(len(audio)) {
		t.Errorf("HEAD: %d, %d bytes, %v", head.Code, head.Body.Len(), head.Header())
	}
	part := ask(http.MethodGet, "bytes=6-7")
	if text, _ := io.ReadAll(part.Body); part.Code != http.StatusPartialContent || string(text) != audio[6:8] {
		t.Errorf("a part: %d %q", part.Code, text)
	}
}

// A token is compared whole: the id of a session that listens is worth nothing with
// another signature.
func TestAnotherSignatureIsNotTheSession(t *testing.T) {
	now := time.Now()
	table := newSessions(sessionLimits{fresh: time.Minute, idle: time.Minute, back: time.Minute, most: 10}, []byte("key"), now)
	token, _ := table.begin(now, nil)
	table.hear(token, now)
	raw, _ := decode(token)
	for i := range raw {
		forged := raw
		forged[i] ^= 1
		if table.touch(forged.String(), now, nil) {
			t.Errorf("byte %d changed, and the session goes on", i)
		}
	}
	if !table.touch(token, now, nil) || count(table.listening(now)) != 1 {
		t.Error("the session itself is gone")
	}
}

// text is the media playlist of the main rendition as a listener of a session gets it.
func (w *window) text(suffix string) ([]byte, error) {
	list := w.media(0)
	if list == nil {
		return nil, nil
	}
	return list.with(suffix), nil
}

func (w *window) masterText(suffix string) ([]byte, error) {
	list, err := w.master(noRendition)
	if err != nil {
		return nil, err
	}
	return list.with(suffix), nil
}
