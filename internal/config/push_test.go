package config

import "testing"

func TestThePushSubjectIsSomebodyWhoCanBeAsked(t *testing.T) {
	for subject, right := range map[string]bool{
		"": true, "mailto:studio@example.org": true, "https://radio.example/contact": true,
		"studio@example.org": false, "mailto:": false, "mailto:studio": false, "mailto:A <a@example.org>": false,
		"http://radio.example": false, "https://": false, "https://localhost/": false,
	} {
		if got := len((Push{Subject: subject}).validate()) == 0; got != right {
			t.Errorf("%q: %v", subject, got)
		}
	}
}
