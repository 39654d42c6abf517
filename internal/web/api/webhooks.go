package api

import (
	"context"
	"net/http"

	"github.com/athir-radio/athir/internal/kit/webhooks"
)

// Webhooks tells other programs what happens.
type Webhooks interface {
	Events() []webhooks.Event
	List(ctx context.Context) ([]webhooks.Hook, error)
	Find(ctx context.Context, id string) (webhooks.Hook, error)
	Add(ctx context.Context, o webhooks.Order) (webhooks.Hook, error)
	Change(ctx context.Context, id string, c webhooks.Change) (webhooks.Hook, error)
	Remove(ctx context.Context, id string) error
	Test(ctx context.Context, id string) (webhooks.Delivery, error)
	Deliveries(ctx context.Context, hook, before string, limit int) ([]webhooks.Delivery, error)
	Redeliver(ctx context.Context, hook, id string) (webhooks.Delivery, error)
}

// webhooks returns the rows of webhooks. None is in the mission.
func (s *Server) webhooks() []route {
	const at, one = "/api/station/webhooks", "/api/station/webhooks/{id}"
	return []route{
		{get, at, owns, operating, "The webhooks, and the events there are", typed(s.listWebhooks)},
		{post, at, owns, operating, "Make a webhook; only this answer shows its secret", typed(s.addWebhook, creates, may(409))},
		{get, one, owns, operating, "A webhook", typed(s.webhook)},
		{put, one, owns, operating, "Change a webhook: what is missing stays", typed(s.changeWebhook)},
		{http.MethodDelete, one, owns, operating, "Delete a webhook with its queue and its log", typed(s.removeWebhook)},
		{post, one + "/test", owns, operating, "Send a test message now, and say what came of it", typed(s.testWebhook)},
		{get, one + "/deliveries", owns, operating, "Messages of a webhook with their attempts, newest first", typed(s.deliveries)},
		{post, one + "/deliveries/{delivery}/redeliver", owns, operating, "Send a message again, under its old id", typed(s.redeliver, may(409))},
	}
}

type webhooksAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Webhooks []webhooks.Hook  `json:"webhooks" nullable:"false" doc:"Oldest first"`
		Events   []webhooks.Event `json:"events" nullable:"false" doc:"What a webhook can ask for"`
	}
}

func (s *Server) listWebhooks(ctx context.Context, _ *struct{}) (*webhooksAnswer, error) {
	all, err := s.opt.Webhooks.List(ctx)
	if err != nil {
		return nil, err
	}
	out := &webhooksAnswer{CacheControl: "no-store"}
	out.Body.Webhooks, out.Body.Events = all, s.opt.Webhooks.Events()
	return out, nil
}

type webhookAnswer struct {
	Status       int
	CacheControl string `header:"Cache-Control"`
	Body         webhooks.Hook
}

// hooked makes an answer with a hook.
func hooked(status int, h webhooks.Hook, err error) (*webhookAnswer, error) {
	if err != nil {
		return nil, inField(err)
	}
	return &webhookAnswer{status, "no-store", h}, nil
}

func (s *Server) addWebhook(ctx context.Context, in *struct {
	Body struct {
		URL    string   `json:"url" minLength:"1" maxLength:"2000" doc:"http or https address that takes the messages"`
		Events []string `json:"events" minItems:"1" maxItems:"50" maxLength:"100" nullable:"false" doc:"Names of events; * is all of them"`
		Secret string   `json:"secret,omitempty" maxLength:"100" doc:"whsec_ and 24 to 64 bytes in base64; made when missing"`
	}
}) (*webhookAnswer, error) {
	h, err := s.opt.Webhooks.Add(ctx, webhooks.Order{URL: in.Body.URL, Events: in.Body.Events, Secret: in.Body.Secret})
	return hooked(http.StatusCreated, h, err)
}

// WebhookID is the path of a webhook.
type WebhookID struct {
	ID string `path:"id" maxLength:"64"`
}

func (s *Server) webhook(ctx context.Context, in *struct{ WebhookID }) (*webhookAnswer, error) {
	h, err := s.opt.Webhooks.Find(ctx, in.ID)
	return hooked(http.StatusOK, h, err)
}

func (s *Server) changeWebhook(ctx context.Context, in *struct {
	WebhookID
	Body struct {
		URL          *string  `json:"url,omitempty" minLength:"1" maxLength:"2000"`
		Events       []string `json:"events,omitempty" minItems:"1" maxItems:"50" maxLength:"100" nullable:"false"`
		Enabled      *bool    `json:"enabled,omitempty" doc:"A disabled webhook gets nothing, and what waits for it is dropped"`
		RotateSecret bool     `json:"rotateSecret,omitempty" doc:"Make a new secret and show it in the answer; the old one signs as well for a day"`
	}
}) (*webhookAnswer, error) {
	h, err := s.opt.Webhooks.Change(ctx, in.ID, webhooks.Change{
		URL: in.Body.URL, Events: in.Body.Events, Enabled: in.Body.Enabled, Rotate: in.Body.RotateSecret,
	})
	return hooked(http.StatusOK, h, err)
}

func (s *Server) removeWebhook(ctx context.Context, in *struct{ WebhookID }) (*struct{}, error) {
	return nil, s.opt.Webhooks.Remove(ctx, in.ID)
}

type deliveryAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         webhooks.Delivery
}

func (s *Server) testWebhook(ctx context.Context, in *struct{ WebhookID }) (*deliveryAnswer, error) {
	d, err := s.opt.Webhooks.Test(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &deliveryAnswer{"no-store", d}, nil
}

type deliveriesAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Deliveries []webhooks.Delivery `json:"deliveries" nullable:"false"`
	}
}

func (s *Server) deliveries(ctx context.Context, in *struct {
	WebhookID
	Before string `query:"before" maxLength:"64" doc:"Id of a message: those before it"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}) (*deliveriesAnswer, error) {
	all, err := s.opt.Webhooks.Deliveries(ctx, in.ID, in.Before, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &deliveriesAnswer{CacheControl: "no-store"}
	out.Body.Deliveries = all
	return out, nil
}

func (s *Server) redeliver(ctx context.Context, in *struct {
	WebhookID
	Delivery string `path:"delivery" maxLength:"64"`
}) (*deliveryAnswer, error) {
	d, err := s.opt.Webhooks.Redeliver(ctx, in.ID, in.Delivery)
	if err != nil {
		return nil, err
	}
	return &deliveryAnswer{"no-store", d}, nil
}
