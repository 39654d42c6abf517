package speech

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/athir-radio/athir/internal/kit/proc"
)

// service plays Microsoft's side of the protocol. It is as strict as the real
// one where that is known, and misbehaves as a test wants.
type service struct {
	t     *testing.T
	clock func() time.Time
	// answer sends the turn; it stands in for the well-behaved one.
	answer func(ctx context.Context, ws *websocket.Conn, request string)
	mp3    []byte

	refused atomic.Int64
	mu      sync.Mutex
	text    string // asked for last
	voice   string
	rate    string
}

// speechMP3 is real speech in the service's format.
var speechMP3 = sync.OnceValues(func() ([]byte, error) {
	e, err := NewEspeak("ar", 8)
	if err != nil {
		return nil, err
	}
	wav, err := e.Speak(context.Background(), sentence)
	if err != nil {
		return nil, err
	}
	return proc.Output(context.Background(), proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Stdin: bytes.NewReader(wav),
		Args: []string{"-v", "error", "-i", "pipe:0", "-ar", "24000", "-ac", "1", "-b:a", "48k", "-f", "mp3", "pipe:1"},
	}, 1<<20)
})

// serve starts a service and returns an engine that speaks through it.
func serve(t *testing.T, change func(*service)) (*service, *Edge) {
	t.Helper()
	mp3, err := speechMP3()
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, clock: time.Now, mp3: mp3}
	if change != nil {
		change(s)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	e, err := NewEdge("ar-EG-SalmaNeural", 8, strings.Replace(server.URL, "http", "ws", 1)+"/edge/v1")
	if err != nil {
		t.Fatal(err)
	}
	return s, e
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := s.clock()
	w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
	if !s.admits(r.URL.Query(), r.Header, now) {
		s.refused.Add(1)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		s.t.Errorf("accept: %v", err)
		return
	}
	defer ws.CloseNow() //nolint:errcheck // as the test wants it
	ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
	defer cancel()
	request, ok := s.request(ctx, ws)
	if !ok {
		return
	}
	if s.answer != nil {
		s.answer(ctx, ws, request)
		return
	}
	s.speak(ctx, ws, request, s.mp3)
	_ = ws.Close(websocket.StatusNormalClosure, "")
}

// admits checks the door: the token of this five minutes or of the two beside it.
func (s *service) admits(q url.Values, h http.Header, now time.Time) bool {
	for _, near := range []time.Duration{-5 * time.Minute, 0, 5 * time.Minute} {
		if q.Get("Sec-MS-GEC") == gecToken(now.Add(near)) {
			return q.Get("TrustedClientToken") == clientToken && strings.HasPrefix(q.Get("Sec-MS-GEC-Version"), "1-") &&
				len(q.Get("ConnectionId")) == 32 && strings.HasPrefix(h.Get("Origin"), "chrome-extension://") &&
				strings.Contains(h.Get("User-Agent"), " Edg/") && strings.HasPrefix(h.Get("Cookie"), "muid=")
		}
	}
	return false
}

// request reads the two messages a turn begins with. It is not ok without a word
// where they do not come: the engine has given up, which its own error tells.
func (s *service) request(ctx context.Context, ws *websocket.Conn) (id string, ok bool) {
	headers, body, ok := s.message(ctx, ws)
	var config struct {
		Context struct {
			Synthesis struct {
				Audio struct {
					OutputFormat string `json:"outputFormat"`
				} `json:"audio"`
			} `json:"synthesis"`
		} `json:"context"`
	}
	if !ok {
		return "", false
	}
	if headers["path"] != "speech.config" || json.Unmarshal(body, &config) != nil || config.Context.Synthesis.Audio.OutputFormat != soundFormat {
		s.t.Errorf("the configuration is wrong: %v %s", headers, body)
		return "", false
	}
	if headers, body, ok = s.message(ctx, ws); !ok {
		return "", false
	}
	var ssml struct {
		XMLName xml.Name `xml:"speak"`
		Lang    string   `xml:"lang,attr"`
		Voice   struct {
			Name    string `xml:"name,attr"`
			Prosody struct {
				Rate string `xml:"rate,attr"`
				Text string `xml:",chardata"`
			} `xml:"prosody"`
		} `xml:"voice"`
	}
	if err := xml.Unmarshal(body, &ssml); headers["path"] != "ssml" || headers["content-type"] != "application/ssml+xml" || err != nil || ssml.Lang != "ar-EG" {
		s.t.Errorf("the request is wrong: %v %s (%v)", headers, body, err)
		return "", false
	}
	s.mu.Lock()
	s.text, s.voice, s.rate = ssml.Voice.Prosody.Text, ssml.Voice.Name, ssml.Voice.Prosody.Rate
	s.mu.Unlock()
	return headers["x-requestid"], len(headers["x-requestid"]) == 32
}

func (s *service) message(ctx context.Context, ws *websocket.Conn) (map[string]string, []byte, bool) {
	kind, data, err := ws.Read(ctx)
	if err != nil {
		return nil, nil, false
	}
	if kind != websocket.MessageText {
		s.t.Errorf("a message of the kind %s: %q", kind, data)
		return nil, nil, false
	}
	head, body, ok := bytes.Cut(data, []byte("\r\n\r\n"))
	return headersOf(head), body, ok
}

func (s *service) speak(ctx context.Context, ws *websocket.Conn, request string, mp3 []byte) {
	s.tell(ctx, ws, request, "turn.start", `{"context":{"serviceTag":"x"}}`)
	s.tell(ctx, ws, request, "response", `{"context":{"serviceTag":"x"},"audio":{"type":"inline"}}`)
	s.sound(ctx, ws, request, "audio/mpeg", mp3)
	s.tell(ctx, ws, request, "audio.metadata", `{"Metadata":[{"Type":"SessionEnd"}]}`)
	_ = ws.Write(ctx, websocket.MessageBinary, soundMessage(request, "", nil))
	s.tell(ctx, ws, request, "turn.end", `{}`)
}

func (s *service) tell(ctx context.Context, ws *websocket.Conn, request, path, body string) {
	_ = ws.Write(ctx, websocket.MessageText, fmt.Appendf(nil,
		"X-RequestId:%s\r\nContent-Type:application/json; charset=utf-8\r\nPath:%s\r\n\r\n%s", request, path, body))
}

func (s *service) sound(ctx context.Context, ws *websocket.Conn, request, contentType string, mp3 []byte) {
	for len(mp3) > 0 {
		n := min(720, len(mp3))
		_ = ws.Write(ctx, websocket.MessageBinary, soundMessage(request, contentType, mp3[:n]))
		mp3 = mp3[n:]
	}
}

func soundMessage(request, contentType string, sound []byte) []byte {
	head := "X-RequestId:" + request + "\r\n"
	if contentType != "" {
		head += "Content-Type:" + contentType + "\r\n"
	}
	head += "X-StreamId:1\r\nPath:audio\r\n"
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(head))), head+string(sound)...)
}

func TestEdgeSpeaksThroughTheRealProtocol(t *testing.T) {
	s, e := serve(t, nil)
	c, err := booth(t, Step{e, 20 * time.Second}).Say(t.Context(), sentence)
	if err != nil {
		t.Fatal(err)
	}
	mustBeWAV(t, c)
	if c.Voice != "edge:ar-EG-SalmaNeural" || s.text != sentence || s.voice != "ar-EG-SalmaNeural" || s.rate != "+8%" {
		t.Errorf("%s spoke; asked for %q by %s at %s", c.Voice, s.text, s.voice, s.rate)
	}
	// An engine escapes for itself, whatever was cleaned before.
	hostile := `</prosody></voice><voice name='x'> & "quoted" ]]>`
	if _, err := e.Speak(t.Context(), hostile); err != nil || s.text != hostile {
		t.Errorf("asked for %q: %v", s.text, err)
	}
}

// The token is Microsoft's, so it is checked against one made elsewhere.
func TestTokenOfAKnownTime(t *testing.T) {
	const known = "AE4CF72E466874182A75878E20EADA83D29A1C12CAD9C3E0E014CCE0BFA55880"
	if got := gecToken(time.Unix(1_700_000_123, 0)); got != known {
		t.Errorf("the token is %s", got)
	}
	if gecToken(time.Unix(1_700_000_099, 0)) == gecToken(time.Unix(1_700_000_100, 0)) {
		t.Error("the token outlives its five minutes")
	}
}

func TestEdgeSetsItsClockByTheServices(t *testing.T) {
	for _, off := range []time.Duration{7 * time.Hour, -40 * 24 * time.Hour} {
		s, e := serve(t, func(s *service) { s.clock = func() time.Time { return time.Now().Add(off) } })
		for range 2 {
			if _, err := e.Speak(t.Context(), sentence); err != nil {
				t.Fatalf("off by %s: %v", off, err)
			}
		}
		if n := s.refused.Load(); n != 1 {
			t.Errorf("off by %s: refused %d times, once is enough", off, n)
		}
	}
}

func TestEveryFaultOfTheServiceIsAnErrorInTime(t *testing.T) {
	turn := func(f func(ctx context.Context, s *service, ws *websocket.Conn, request string)) func(*service) {
		return func(s *service) {
			s.answer = func(ctx context.Context, ws *websocket.Conn, request string) { f(ctx, s, ws, request) }
		}
	}
	raw := func(kind websocket.MessageType, data []byte) func(*service) {
		return turn(func(ctx context.Context, _ *service, ws *websocket.Conn, _ string) { _ = ws.Write(ctx, kind, data) })
	}
	for name, c := range map[string]struct {
		fault func(*service)
		says  string
	}{
		"cut in mid-stream": {turn(func(ctx context.Context, s *service, ws *websocket.Conn, request string) {
			s.tell(ctx, ws, request, "turn.start", "{}")
			s.sound(ctx, ws, request, "audio/mpeg", s.mp3[:len(s.mp3)/2])
		}), "bytes of sound"},
		"closed politely before the end": {turn(func(ctx context.Context, s *service, ws *websocket.Conn, request string) {
			s.sound(ctx, ws, request, "audio/mpeg", s.mp3)
			_ = ws.Close(websocket.StatusInternalError, "unsupported voice")
		}), "unsupported voice"},
		"silent for ever": {turn(func(ctx context.Context, _ *service, ws *websocket.Conn, _ string) {
			_, _, _ = ws.Read(ctx)
		}), "not done after"},
		"slower than we wait": {turn(func(ctx context.Context, s *service, ws *websocket.Conn, request string) {
			for i := 0; i < len(s.mp3) && ctx.Err() == nil; i += 100 {
				if ws.Write(ctx, websocket.MessageBinary, soundMessage(request, "audio/mpeg", s.mp3[i:i+1])) != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		}), "not done after"},
		"a turn without sound": {turn(func(ctx context.Context, s *service, ws *websocket.Conn, request string) {
			s.tell(ctx, ws, request, "turn.end", "{}")
		}), "sent no sound"},
		"sound of another request only": {turn(func(ctx context.Context, s *service, ws *websocket.Conn, request string) {
			s.sound(ctx, ws, strings.Repeat("0", 32), "audio/mpeg", s.mp3)
			s.tell(ctx, ws, request, "turn.end", "{}")
		}), "sent no sound"},
		"the end of another request only": {turn(func(ctx context.Context, s *service, ws *websocket.Conn, request string) {
			s.speak(ctx, ws, strings.Repeat("0", 32), s.mp3)
			_, _, _ = ws.Read(ctx)
		}), "not done after"},
		"another content type": {turn(func(ctx context.Context, s *service, ws *websocket.Conn, request string) {
			s.sound(ctx, ws, request, "text/html", s.mp3)
		}), "text/html"},
		"silence as sound": {turn(func(ctx context.Context, s *service, ws *websocket.Conn, request string) {
			s.speak(ctx, ws, request, s.mp3[:700])
		}), "cut short"},
		"noise as sound": {turn(func(ctx context.Context, s *service, ws *websocket.Conn, request string) {
			s.speak(ctx, ws, request, bytes.Repeat([]byte("<html>"), 3000))
		}), "decode"},
		"a binary message of one byte":  {raw(websocket.MessageBinary, []byte{7}), "no header"},
		"a header longer than it is":    {raw(websocket.MessageBinary, []byte("\xff\xffX-RequestId:1\r\n")), "is truncated"},
		"a binary message of nonsense":  {raw(websocket.MessageBinary, []byte("\x00\x04abcdefgh")), "has the path"},
		"a text of nonsense":            {raw(websocket.MessageText, []byte("<html>busy</html>")), "no path header"},
		"an oversized message":          {raw(websocket.MessageBinary, make([]byte, 2*mostMessage)), "bytes of sound"},
		"more sound than anyone speaks": {turn(flood), "more than"},
		"refused whatever the time":     {func(s *service) { s.clock = stuck() }, "connect"},
	} {
		t.Run(name, func(t *testing.T) {
			_, e := serve(t, c.fault)
			limit := 20 * time.Second
			if c.says == "not done after" {
				limit = 200 * time.Millisecond
			}
			_, err := booth(t, Step{e, limit}).Say(t.Context(), sentence)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), clientToken) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestWithoutTheServiceTheOfflineVoiceSpeaks(t *testing.T) {
	_, e := serve(t, func(s *service) {
		s.answer = func(ctx context.Context, ws *websocket.Conn, request string) {
			s.sound(ctx, ws, request, "audio/mpeg", s.mp3[:len(s.mp3)/2])
		}
	})
	got, err := booth(t, Step{e, 20 * time.Second}, Step{espeak(t), time.Minute}).Say(t.Context(), sentence)
	if err != nil || got.Voice != "espeak-ng:ar" {
		t.Errorf("%s spoke: %v", got.Voice, err)
	}
}

func flood(ctx context.Context, _ *service, ws *websocket.Conn, request string) {
	message := soundMessage(request, "audio/mpeg", make([]byte, mostMessage/2))
	for ws.Write(ctx, websocket.MessageBinary, message) == nil {
	}
}

// stuck is a clock that leaps by a day whenever it is read.
func stuck() func() time.Time {
	var reads atomic.Int64
	return func() time.Time { return time.Now().Add(time.Duration(reads.Add(1)) * 24 * time.Hour) }
}

func TestEdgeTakesNoOtherAnswerForTheService(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a redirect was followed")
	}))
	defer elsewhere.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"a page":           func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>hotel login</html>") },
		"a redirect":       func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
		"a broken gateway": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"403 without Date": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Date"] = nil
			w.WriteHeader(http.StatusForbidden)
		},
		"403 with nonsense": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", "today")
			w.WriteHeader(http.StatusForbidden)
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			e, err := NewEdge("ar-EG-ShakirNeural", 8, strings.Replace(server.URL, "http", "ws", 1))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Speak(t.Context(), sentence); err == nil || !strings.Contains(err.Error(), "connect") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
