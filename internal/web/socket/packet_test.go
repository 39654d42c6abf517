package socket

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// What is encoded is decoded as it was, names, numbers and all.
func TestPacketsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		namespace := rapid.SampledFrom([]string{"/", "/a", "/chat/room-1", "/بث"}).Draw(t, "namespace")
		event := rapid.String().Filter(func(s string) bool { return !reserved(s) }).Draw(t, "event")
		texts := rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "args")
		attachments := rapid.IntRange(0, MaxAttachments).Draw(t, "attachments")
		var id *uint64
		if rapid.Bool().Draw(t, "ack") {
			n := rapid.Uint64Range(0, 1e15-1).Draw(t, "id")
			id = &n
		}
		args := []any{}
		for _, s := range texts {
			args = append(args, s)
		}
		for range attachments {
			args = append(args, []byte("x"))
		}
		// As encodeArray makes it, but as text.
		var body bytes.Buffer
		body.WriteByte('[')
		next := 0
		for i, arg := range append([]any{event}, args...) {
			if i > 0 {
				body.WriteByte(',')
			}
			if _, ok := arg.([]byte); ok {
				arg = Placeholder(next)
				next++
			}
			if err := encodeArg(&body, arg); err != nil {
				t.Fatal(err)
			}
		}
		body.WriteByte(']')
		k := kindEvent
		if attachments > 0 {
			k = kindBinaryEvent
		}
		text := appendHeader(nil, k, attachments, namespace)
		if id != nil {
			number, _ := json.Marshal(*id)
			text = append(text, number...)
		}
		p, err := decode(append(text, body.Bytes()...))
		if err != nil {
			t.Fatal(err)
		}
		name, got, err := p.event()
		if err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(event) // as JSON has it: what is not UTF-8 is replaced
		var wanted string
		_ = json.Unmarshal(want, &wanted)
		if name != wanted || p.namespace != namespace || p.attachments != attachments || p.hasID != (id != nil) || id != nil && p.id != *id || len(got) != len(args) {
			t.Fatalf("%+v %q %s", p, name, got)
		}
		e := Event{Args: got, Attachments: make([][]byte, attachments)}
		for i := range texts {
			var s, w string
			wantArg, _ := json.Marshal(texts[i])
			_ = json.Unmarshal(wantArg, &w)
			if json.Unmarshal(got[i], &s) != nil || s != w {
				t.Fatalf("argument %d: %s", i, got[i])
			}
		}
		for i := range attachments {
			if _, ok := e.Bytes(len(texts) + i); !ok {
				t.Fatalf("argument %d is no attachment: %s", len(texts)+i, got[len(texts)+i])
			}
		}
	})
}

func TestPlaceholdersPointOnlyAtWhatThereIs(t *testing.T) {
	e := Event{Attachments: [][]byte{{1}}}
	for _, arg := range []string{
		`{"_placeholder":true,"num":1}`, `{"_placeholder":true,"num":-1}`, `{"_placeholder":true}`, `{"_placeholder":false,"num":0}`,
		`{"_placeholder":true,"num":1e99}`, `{"_placeholder":true,"num":"0"}`, `"x"`, `null`, `[]`,
	} {
		e.Args = []json.RawMessage{json.RawMessage(arg)}
		if _, ok := e.Bytes(0); ok {
			t.Errorf("%s is an attachment", arg)
		}
	}
	e.Args = []json.RawMessage{json.RawMessage(`{"_placeholder":true,"num":0}`)}
	if b, ok := e.Bytes(0); !ok || len(b) != 1 {
		t.Error("the attachment is not found")
	}
	if _, ok := e.Bytes(5); ok {
		t.Error("an argument there is not")
	}
}

func FuzzPacket(f *testing.F) {
	for _, seed := range []string{
		"0", `0{"token":"1"}`, "0/custom,{}", "1", `2["message",1]`, `212["a"]`, `2/custom,7["b"]`, `30[1]`,
		`52-["c",{"_placeholder":true,"num":0}]`, `61-/x,3[{"_placeholder":true,"num":0}]`, `4{"message":"x"}`, `2[[[[[[`, `510-["x"]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := decode(text)
		if err != nil {
			return
		}
		if p.attachments > MaxAttachments || p.namespace == "" || p.namespace[0] != '/' {
			t.Errorf("%+v", p)
		}
		switch p.kind {
		case kindEvent, kindBinaryEvent:
			name, args, err := p.event()
			if err != nil {
				return
			}
			if reserved(name) {
				t.Errorf("event %q", name)
			}
			for i, arg := range args {
				if !json.Valid(arg) {
					t.Errorf("argument %d is %q", i, arg)
				}
				e := Event{Args: args, Attachments: make([][]byte, p.attachments)}
				e.Bytes(i)
			}
		case kindAck, kindBinaryAck:
			if args, err := p.args(); err == nil && !p.hasID {
				t.Errorf("an acknowledgement of nothing: %s", args)
			}
		}
	})
}
