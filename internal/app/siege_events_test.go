package app

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/coder/websocket"

	"github.com/athir-radio/athir/internal/kit/webhooks"
	"github.com/athir-radio/athir/internal/web/edge"
	"github.com/athir-radio/athir/test/contract"
)

func hookOrder() webhooks.Order {
	return webhooks.Order{URL: "https://hook.example/a", Events: []string{"*"}}
}

// eventBodies are good first arguments, for hostility to begin with.
var eventBodies = map[string][]string{
	"join_channel": {`"main"`, `"fairuz"`}, "leave_channel": {`"fairuz"`},
	"send_comment": {`{"name":"سلمى","text":"أهلا","id":"a-write-of-mine"}`, `{"name":"سلمى","text":"أهلا"}`},
	"interaction":  {`{"type":"vibe_vote","vibe":"tarab"}`},
	"join":         {`{"name":"سلمى","room":"main"}`},
	"leave":        {`{"room":"main"}`},
	"sendMessage": {
		`{"type":"text","text":"أهلا","room":"main","user":"سلمى"}`,
		`{"type":"image","data":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==","room":"main","user":"سلمى"}`,
		`{"type":"voice","data":"data:audio/webm;base64,GkXfo59ChoEBQveBAULygQRC84EIQoKEd2VibUKHgQRChYECGFOAZwH/////////","room":"main","user":"سلمى"}`,
	},
	"reaction":     {`{"msgId":"m1","emoji":"❤️","user":"سلمى"}`},
	"start_stream": {`{"type":"audio/webm"}`},
	"audio_data":   {`"xxxx"`},
	"stop_stream":  {``},
	"status":       {`{}`},
	"nothing":      {`{}`},
}

// events sends until none is left, over one connection after another: a client
// that breaks the protocol is shown out.
func (s *siege) events(ctx context.Context, r *rand.Rand, left *atomic.Int64) {
	names := []string{}
	for _, row := range edge.Asks() {
		names = append(names, row.Event)
	}
	names = append(names, "status", "nothing")
	for left.Load() > 0 && ctx.Err() == nil {
		s.eventsOnce(ctx, r, names, left)
	}
}

// visit is one connection. Its answers come over asked, by their number.
type visit struct {
	conn     *websocket.Conn
	asked    chan int // statuses of answers, 200 for one that is well
	caughtUp chan struct{}
	gone     chan struct{}
	wrong    chan string
}

// One client's asks are carried out in order: when this one is answered, what
// was asked before it has been. Its number is above those of hostile events.
const (
	lastAsked    = `421000["leave_channel","main"]`
	lastAnswered = "431000["
)

func (s *siege) eventsOnce(ctx context.Context, r *rand.Rand, names []string, left *atomic.Int64) {
	conn, res, err := websocket.Dial(ctx, strings.Replace(s.url, "http", "ws", 1)+"/socket.io/?EIO=4&transport=websocket", nil)
	if err != nil {
		s.note("no connection for events", 0, fmt.Sprint("connect for events: ", err))
		left.Add(-1)
		return
	}
	if res.Body != nil {
		_ = res.Body.Close()
	}
	conn.SetReadLimit(16 << 20)
	defer conn.CloseNow() //nolint:errcheck // it is over
	auth := `{"key":"` + besiegedKey + `","device":"device-of-a-fuzzer"}`
	if r.IntN(3) == 0 {
		auth = string(contract.HostileJSON(r, []byte(auth)))
	}
	if conn.Write(ctx, websocket.MessageText, []byte("40"+auth)) != nil {
		return
	}
	v := &visit{conn: conn, asked: make(chan int, 1), caughtUp: make(chan struct{}, 1), gone: make(chan struct{}), wrong: make(chan string, 1)}
	go v.read(ctx)
	defer func() { <-v.gone }()
	defer conn.CloseNow() //nolint:errcheck // it is over
	for range 200 {
		if left.Add(-1) < 0 {
			return
		}
		name, kind, packet := hostileEvent(r, names)
		if conn.Write(ctx, kind, packet) != nil {
			s.note("event after the end", 0, "")
			return
		}
		// Not every event is answered. This one is, after those before it.
		if conn.Write(ctx, websocket.MessageText, []byte(lastAsked)) != nil {
			s.note("event after the end", 0, "")
			return
		}
		select {
		case <-v.caughtUp:
		case <-v.gone:
			s.note("event "+name+", shown out", 0, "")
			return
		}
		select {
		case status := <-v.asked:
			s.note("event "+name, status, "")
		case wrong := <-v.wrong:
			s.note("event "+name, 500, fmt.Sprintf("event %s: %s\nsent %.300q", name, wrong, packet))
		default:
			s.note("event "+name+", no answer", 0, "")
		}
	}
}

// hostileEvent is a packet: most are events whose argument has something wrong.
func hostileEvent(r *rand.Rand, names []string) (name string, kind websocket.MessageType, packet []byte) {
	name = names[r.IntN(len(names))]
	bodies := eventBodies[name]
	body := bodies[r.IntN(len(bodies))]
	switch {
	case body == "" && r.IntN(2) == 0:
		return name, websocket.MessageText, []byte(`421["` + name + `"]`)
	case r.IntN(4) > 0:
		body = string(contract.HostileJSON(r, []byte(body)))
	}
	event, err := json.Marshal(name)
	if err != nil || r.IntN(40) == 0 {
		event = contract.HostileValue(r)
	}
	switch packet := `42` + strconv.Itoa(r.IntN(1000)) + `[` + string(event) + `,` + body; r.IntN(30) {
	case 0: // more arguments
		return name, websocket.MessageText, []byte(packet + `,` + string(contract.HostileValue(r)) + `]`)
	case 1: // a packet that promises bytes, and some
		return name, websocket.MessageText, []byte(`45` + strconv.Itoa(r.IntN(4)) + `-1["audio_data",{"_placeholder":true,"num":` + string(contract.HostileValue(r)) + `}]`)
	case 2:
		return name, websocket.MessageBinary, []byte(contract.HostileText(r))
	case 3: // any packet
		return name, websocket.MessageText, []byte(contract.HostileText(r))
	case 4: // other types of packet
		return name, websocket.MessageText, []byte(strconv.Itoa(r.IntN(8)) + strconv.Itoa(r.IntN(8)) + contract.HostileText(r))
	case 5: // other namespaces
		return name, websocket.MessageText, []byte(`42/` + contract.HostileText(r) + `,1[` + string(event) + `]`)
	default:
		return name, websocket.MessageText, []byte(packet + `]`)
	}
}

// read takes what the station says: answers are looked at.
func (v *visit) read(ctx context.Context) {
	defer close(v.gone)
	for {
		_, data, err := v.conn.Read(ctx)
		if err != nil {
			return
		}
		if string(data) == "2" { // is anybody there?
			_ = v.conn.Write(ctx, websocket.MessageText, []byte("3"))
			continue
		}
		if strings.HasPrefix(string(data), lastAnswered) {
			select {
			case v.caughtUp <- struct{}{}:
			default:
			}
			continue
		}
		if !strings.HasPrefix(string(data), "43") {
			continue
		}
		_, list, _ := strings.Cut(string(data), "[")
		var answer []struct {
			OK    *bool
			Error struct {
				Status        int
				Title, Detail string
			}
		}
		status, wrong := 200, ""
		switch err := json.Unmarshal([]byte("["+list), &answer); {
		case err != nil || len(answer) != 1 || answer[0].OK == nil:
			wrong = fmt.Sprintf("answers %.300s", data)
		case !*answer[0].OK:
			if status = answer[0].Error.Status; status < 400 || status >= 500 || answer[0].Error.Title == "" {
				wrong = fmt.Sprintf("answers %.300s", data)
			}
		}
		if wrong != "" {
			select {
			case v.wrong <- wrong:
			default:
			}
			continue
		}
		select {
		case v.asked <- status:
		default:
		}
	}
}
