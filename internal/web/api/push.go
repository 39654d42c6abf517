package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/station"
)

// Push keeps the subscriptions to notifications.
type Push interface {
	// PublicKey is the station's key, for a browser's applicationServerKey.
	PublicKey() string
	Subscribe(ctx context.Context, from webpush.Client, o webpush.Order) (webpush.Wishes, error)
	Unsubscribe(ctx context.Context, endpoint string) error
	Wishes(ctx context.Context, from webpush.Client, endpoint string) (webpush.Wishes, error)
}

// subscriptions returns the rows of push. The mission has only the POST.
func (s *Server) subscriptions() []route {
	const at = "/api/subscribe"
	return []route{
		{get, at, open, reading, "What a browser needs to subscribe to notifications", typed(s.pushOffer)},
		{post, at, open, writing, "Register a web-push subscription, or change the one with the same endpoint", typed(s.subscribe, may(401, 403, 409, 503))},
		{post, at + "/mine", open, writing, "What a subscription asks for", typed(s.subscription, may(404, 409))},
		{http.MethodDelete, at, open, writing, "Forget a subscription", typed(s.unsubscribe, may(409))},
	}
}

// push returns the part, or an error if the operator has switched it off.
func (s *Server) push() (Push, error) {
	if s.opt.Push == nil {
		return nil, fmt.Errorf("notifications are switched off at this station: %w", station.ErrConflict)
	}
	return s.opt.Push, nil
}

type pushTopic struct {
	Name      string `json:"name" enum:"live,artist,bulletin,alert"`
	Operators bool   `json:"operators" doc:"Only with the station key"`
}

type pushOfferAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Enabled   bool        `json:"enabled" doc:"Whether there are notifications"`
		PublicKey string      `json:"publicKey" doc:"The browser's applicationServerKey, base64url; empty when there are none"`
		Topics    []pushTopic `json:"topics" nullable:"false"`
		Languages []string    `json:"languages" nullable:"false"`
	}
}

func (s *Server) pushOffer(context.Context, *struct{}) (*pushOfferAnswer, error) {
	out := &pushOfferAnswer{CacheControl: "no-store"}
	out.Body.Topics, out.Body.Languages = []pushTopic{}, []string{"ar", "en"}
	p, err := s.push()
	if err != nil {
		return out, nil //nolint:nilerr // the answer says that push is off
	}
	out.Body.Enabled, out.Body.PublicKey = true, p.PublicKey()
	for _, t := range webpush.Topics() {
		out.Body.Topics = append(out.Body.Topics, pushTopic{string(t), t == webpush.Alert})
	}
	return out, nil
}

// quietHours are a time of day without notifications.
type quietHours struct {
	From string `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" example:"23:00"`
	To   string `json:"to" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" example:"07:00"`
	Zone string `json:"zone,omitempty" maxLength:"64" example:"Africa/Cairo" doc:"IANA name; the station's when it is missing"`
}

// PushWishes are the notifications that a subscription asks for.
type PushWishes struct {
	Topics  []string    `json:"topics,omitempty" nullable:"false" maxItems:"4" enum:"live,artist,bulletin,alert" doc:"live when it is missing, and artist where artists are named. alert is for operators"`
	Artists []string    `json:"artists,omitempty" nullable:"false" maxItems:"50" maxLength:"200" doc:"Favourites, as the listener writes them"`
	Lang    string      `json:"lang,omitempty" enum:"ar,en" doc:"The station's when it is missing"`
	Quiet   *quietHours `json:"quiet,omitempty" doc:"No notifications then, but for alerts"`
}

func (w PushWishes) wishes() webpush.Wishes {
	out := webpush.Wishes{Artists: w.Artists, Lang: w.Lang}
	for _, t := range w.Topics {
		out.Topics = append(out.Topics, webpush.Topic(t))
	}
	if w.Quiet != nil {
		out.Quiet = &webpush.Quiet{From: w.Quiet.From, To: w.Quiet.To, Zone: w.Quiet.Zone}
	}
	return out
}

func showWishes(w webpush.Wishes) PushWishes {
	out := PushWishes{Artists: w.Artists, Lang: w.Lang}
	for _, t := range w.Topics {
		out.Topics = append(out.Topics, string(t))
	}
	if w.Quiet != nil {
		out.Quiet = &quietHours{w.Quiet.From, w.Quiet.To, w.Quiet.Zone}
	}
	return out
}

// pushKeys are the keys of a browser's subscription. It may send other members, too.
type pushKeys struct {
	_      struct{} `additionalProperties:"true"` //nolint:revive // read by huma
	P256dh string   `json:"p256dh" maxLength:"200" doc:"Uncompressed point of P-256, base64url"`
	Auth   string   `json:"auth" maxLength:"200" doc:"16 bytes, base64url"`
}

// pushSubscription is a browser's PushSubscription with the station's own members.
type pushSubscription struct {
	_              struct{} `additionalProperties:"true"` //nolint:revive // read by huma
	Endpoint       string   `json:"endpoint" minLength:"1" maxLength:"2000" doc:"https address of the browser's push service"`
	ExpirationTime *float64 `json:"expirationTime,omitempty" nullable:"true" minimum:"0" maximum:"9007199254740991" doc:"Epoch milliseconds; null for never"`
	Keys           pushKeys `json:"keys"`
	PushWishes
}

type subscribeInput struct {
	Device string `header:"X-Athir-Device" doc:"Random id that the browser keeps, as of requests and votes: what becomes of the requests of this device is told to this subscription"`
	Body   pushSubscription
	from   webpush.Client
	http   *http.Request
}

// Resolve sets the subscriber's address.
func (in *subscribeInput) Resolve(ctx huma.Context) []error {
	in.http, _ = humago.Unwrap(ctx)
	in.from.Address = client.Address(in.http)
	if client.PlainID(in.Device) { // malformed ids are ignored
		in.from.Device = client.DeviceKey(in.Device)
	}
	return nil
}

type wishesAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         PushWishes
}

func (s *Server) subscribe(ctx context.Context, in *subscribeInput) (*wishesAnswer, error) {
	p, err := s.push()
	if err != nil {
		return nil, err
	}
	if slices.Contains(in.Body.Topics, string(webpush.Alert)) {
		if _, err := s.need(people.Inside, in.http); err != nil {
			return nil, refusedBy(inside, "the topic alert is for operators: ", err)
		}
		in.from.Staff = true
	}
	o := webpush.Order{Endpoint: in.Body.Endpoint, P256dh: in.Body.Keys.P256dh, Auth: in.Body.Keys.Auth, Wishes: in.Body.wishes()}
	if in.Body.ExpirationTime != nil {
		o.Expires = int64(*in.Body.ExpirationTime)
	}
	kept, err := p.Subscribe(ctx, in.from, o)
	if err != nil {
		return nil, inField(err)
	}
	return &wishesAnswer{"no-store", showWishes(kept)}, nil
}

type endpointInput struct {
	Body struct {
		Endpoint string `json:"endpoint" minLength:"1" maxLength:"2000" doc:"Of the subscription: only its browser knows it"`
	}
	from webpush.Client
}

// Resolve sets the sender's address.
func (in *endpointInput) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	in.from.Address = client.Address(r)
	return nil
}

func (s *Server) subscription(ctx context.Context, in *endpointInput) (*wishesAnswer, error) {
	p, err := s.push()
	if err != nil {
		return nil, err
	}
	w, err := p.Wishes(ctx, in.from, in.Body.Endpoint)
	if err != nil {
		return nil, err
	}
	return &wishesAnswer{"no-store", showWishes(w)}, nil
}

func (s *Server) unsubscribe(ctx context.Context, in *endpointInput) (*struct{}, error) {
	p, err := s.push()
	if err != nil {
		return nil, err
	}
	return nil, p.Unsubscribe(ctx, in.Body.Endpoint)
}
