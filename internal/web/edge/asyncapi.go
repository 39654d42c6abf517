package edge

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"path"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/klauspost/compress/gzhttp"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/audience/events"
	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/audience/requests"
	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/onair/guard"
)

// payloads returns the types of the events from server to client, without those of
// the API. The documentation is generated from them.
func payloads() map[string]reflect.Type {
	return map[string]reflect.Type{
		"new_comment":      reflect.TypeFor[chat.Comment](),
		"interaction":      reflect.TypeFor[feedback.VibeTold](),
		"message":          reflect.TypeFor[chat.Message](),
		"stream_error":     reflect.TypeFor[StreamError](),
		"stats_update":     reflect.TypeFor[telemetry.Stats](),
		"reactions":        reflect.TypeFor[feedback.ReactionsTold](),
		"votes":            reflect.TypeFor[feedback.VotesTold](),
		"requests":         reflect.TypeFor[requests.Told](),
		"social_post":      reflect.TypeFor[social.Told](),
		"social_queue":     reflect.TypeFor[social.Queue](),
		"message_reaction": reflect.TypeFor[chat.Reaction](),
		"message_deleted":  reflect.TypeFor[chat.Deleted](),
		"chat_state":       reflect.TypeFor[chat.State](),
		"presence":         reflect.TypeFor[Presence](),
		guard.Event:        reflect.TypeFor[guard.Alert](),
		events.LinkEvent:   reflect.TypeFor[events.Link](),
	}
}

// bodies returns, for each event from client to server, the type of its body and of
// what its acknowledgement holds besides ok.
func bodies() map[string][2]reflect.Type {
	nothing := reflect.TypeFor[struct{}]()
	return map[string][2]reflect.Type{
		"join_channel": {reflect.TypeFor[string](), reflect.TypeFor[joinedChannel]()},
		"send_comment": {reflect.TypeFor[chat.CommentIn](), reflect.TypeFor[commented]()},
		"interaction":  {reflect.TypeFor[vibeAsk](), reflect.TypeFor[feedback.Vibed]()},
		"join":         {reflect.TypeFor[chat.JoinIn](), reflect.TypeFor[chat.JoinOut]()},
		"sendMessage":  {reflect.TypeFor[chat.SayIn](), reflect.TypeFor[messaged]()},
		"reaction":     {reflect.TypeFor[chat.ReactIn](), reflect.TypeFor[chat.Reacted]()},
		"start_stream": {reflect.TypeFor[startAsk](), nothing},
		"audio_data":   {reflect.TypeFor[[]byte](), reflect.TypeFor[heardAnswer]()},
		"stop_stream":  {nothing, nothing},
		"leave":        {reflect.TypeFor[roomBody](), reflect.TypeFor[roomBody]()},

		"leave_channel": {reflect.TypeFor[string](), reflect.TypeFor[joinedChannel]()},
	}
}

type joinedChannel struct {
	Channel string `json:"channel"`
}

type roomBody struct {
	Room string `json:"room"`
}

// StreamError is the payload of the event stream_error.
type StreamError struct {
	Message string `json:"message"`
}

// AsyncAPI describes the events as AsyncAPI 3.0, from both tables and the types of
// their payloads; shown has the types of the API's payloads.
func AsyncAPI(version string, shown map[string]reflect.Type) ([]byte, error) {
	types := payloads()
	maps.Copy(types, shown)
	schemas := huma.NewMapRegistry("#/components/schemas/", func(t reflect.Type, hint string) string {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		name := huma.DefaultSchemaNamer(t, hint)
		if pkg := path.Base(t.PkgPath()); pkg != "." && t.Name() != "" {
			return strings.ToUpper(pkg[:1]) + pkg[1:] + name
		}
		return name
	})
	messages, operations := map[string]any{}, map[string]any{}
	add := func(name, action, says string, payload *huma.Schema, reply *huma.Schema) {
		key := action + "." + name
		messages[key] = map[string]any{"name": name, "title": name, "summary": says, "contentType": "application/json", "payload": payload}
		op := map[string]any{
			"action": action, "summary": says, "channel": ref("#/channels/main"),
			"messages": []any{ref("#/channels/main/messages/" + key)},
		}
		if reply != nil {
			messages["acknowledge."+name] = map[string]any{
				"name": name + " acknowledged", "contentType": "application/json",
				"summary": "ok, and the result; or ok false, and error: a problem document, with retryAfter in seconds where it is a limit",
				"payload": reply,
			}
			op["reply"] = map[string]any{"channel": ref("#/channels/main"), "messages": []any{ref("#/channels/main/messages/acknowledge." + name)}}
		}
		operations[key] = op
	}
	for _, k := range events.Kinds() {
		add(k.Name, "send", k.Says, schemas.Schema(types[k.Name], true, k.Name), nil)
	}
	for _, a := range Asks() {
		b := bodies()[a.Event]
		add(a.Event, "receive", a.Says, schemas.Schema(b[0], true, a.Event), schemas.Schema(b[1], true, a.Event))
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", " ")
	err := enc.Encode(map[string]any{
		"asyncapi": "3.0.0",
		"info": map[string]any{
			"title": "Athir", "version": version,
			"description": "Events over Socket.IO (protocol 5, Engine.IO 4) at /socket.io/, namespace /. 'send' is from the station to listeners, 'receive' from a listener to the station; those may ask for an acknowledgement. Clients that use connection state recovery get an offset, a text, as last argument of each event sent.",
		},
		"defaultContentType": "application/json",
		"channels":           map[string]any{"main": map[string]any{"address": "/", "title": "The namespace of everybody", "messages": messages}},
		"operations":         operations,
		"components":         map[string]any{"schemas": schemas.Map()},
	})
	return out.Bytes(), err
}

func ref(to string) map[string]any { return map[string]any{"$ref": to} }

// AsyncAPIPath is where the description is served.
const AsyncAPIPath = "/asyncapi.json"

// ServeAsyncAPI answers with the document, compressed for those who take that.
func ServeAsyncAPI(doc []byte) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false))
	if err != nil {
		panic(err) // the options are constants
	}
	return wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(doc)
	}))
}
