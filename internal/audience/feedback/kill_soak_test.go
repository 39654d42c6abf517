//go:build soak

package feedback_test

import "testing"

func TestSoakNoVoteIsLostOrCountedTwiceAcrossKills(t *testing.T) { killedVotes(t, 30) }

func TestSoakNoReactionIsLostOrCountedTwiceAcrossKills(t *testing.T) { killedReactions(t, 30) }
