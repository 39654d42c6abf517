package speech

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// edgeService is where Microsoft Edge has pages read aloud.
const edgeService = "wss://speech.platform.bing.com/consumer/speech/synthesize/readaloud/edge/v1"

// Edge speaks with the online voices of Microsoft Edge. The service needs no key
// and promises nothing: it changes its protocol now and then, so another engine must
// follow it. The text is sent nowhere else.
type Edge struct {
	voice, rate, service string
	client               *http.Client
	now                  func() time.Time
	skew                 atomic.Int64 // nanoseconds by which the service's clock is ahead
}

var edgeVoice = regexp.MustCompile(`^([a-z]{2,3}-[A-Z]{2})-[A-Za-z]{1,40}Neural$`)

// NewEdge makes a voice speak, "ar-EG-SalmaNeural" or "ar-EG-ShakirNeural",
// faster or slower than its natural rate by so many percent. service is
// Microsoft's own when empty.
func NewEdge(voice string, percent int, service string) (*Edge, error) {
	if !edgeVoice.MatchString(voice) {
		return nil, fmt.Errorf("voice %q: the name must look like 'ar-EG-SalmaNeural'", voice)
	}
	if err := checkRate(percent); err != nil {
		return nil, err
	}
	if service == "" {
		service = edgeService
	}
	client := &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, TLSHandshakeTimeout: 5 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Edge{voice: voice, rate: fmt.Sprintf("%+d%%", percent), service: service, client: client, now: time.Now}, nil
}

// Name is "edge:" and the voice.
func (e *Edge) Name() string { return "edge:" + e.voice }

// Speak returns an MP3 file at 24 kHz.
func (e *Edge) Speak(ctx context.Context, text string) ([]byte, error) {
	ws, err := e.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer ws.CloseNow() //nolint:errcheck // the turn is over, or has failed already
	ws.SetReadLimit(mostMessage)

	request := randomID()
	for _, message := range []string{configMessage(e.now()), ssmlMessage(request, e.now(), e.voice, e.rate, text)} {
		if err := ws.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
			return nil, fmt.Errorf("send the text: %w", err)
		}
	}
	turn := turn{request: request}
	for !turn.over {
		kind, data, err := ws.Read(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the answer after %d bytes of sound: %w", len(turn.sound), err)
		}
		if err := turn.take(kind == websocket.MessageBinary, data); err != nil {
			return nil, err
		}
	}
	if len(turn.sound) == 0 {
		return nil, errors.New("the service sent no sound")
	}
	return turn.sound, nil
}

// dial opens a connection. The token is made from the time, so a refusal may mean that
// this machine's clock is wrong: dial then tries again with the service's time.
func (e *Edge) dial(ctx context.Context) (*websocket.Conn, error) {
	for try := 0; ; try++ {
		ws, answer, err := websocket.Dial(ctx, e.address(), &websocket.DialOptions{ //nolint:bodyclose // Dial reads and closes it
			HTTPClient: e.client, HTTPHeader: edgeHeaders(),
		})
		if err == nil {
			return ws, nil
		}
		if answer == nil || answer.StatusCode != http.StatusForbidden || try > 0 {
			return nil, fmt.Errorf("connect: %w", withoutAddress(err))
		}
		theirs, dateErr := http.ParseTime(answer.Header.Get("Date"))
		if dateErr != nil {
			return nil, fmt.Errorf("connect: refused without a date to correct the clock by: %w", withoutAddress(err))
		}
		e.skew.Store(int64(theirs.Sub(e.now())))
	}
}

// withoutAddress keeps the token out of the log.
func withoutAddress(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func (e *Edge) address() string {
	query := url.Values{
		"TrustedClientToken": {clientToken},
		"Sec-MS-GEC":         {gecToken(e.now().Add(time.Duration(e.skew.Load())))},
		"Sec-MS-GEC-Version": {"1-" + browserVersion},
		"ConnectionId":       {randomID()},
	}
	return e.service + "?" + query.Encode()
}

func edgeHeaders() http.Header {
	major, _, _ := strings.Cut(browserVersion, ".")
	return http.Header{
		"Pragma":          {"no-cache"},
		"Cache-Control":   {"no-cache"},
		"Origin":          {"chrome-extension://jdiccldimpdaibmpdkjnbmckianbfold"},
		"Accept-Language": {"en-US,en;q=0.9"},
		"User-Agent": {"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/" +
			major + ".0.0.0 Safari/537.36 Edg/" + major + ".0.0.0"},
		"Cookie": {"muid=" + strings.ToUpper(randomID()) + ";"},
	}
}

// randomID is 32 hexadecimal digits.
func randomID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
