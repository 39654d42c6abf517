//go:build soak

package chat_test

import "testing"

func TestSoakNoAnsweredMessageIsLostOrDoubledAcrossKills(t *testing.T) { killedChat(t, 30) }
