package config

import (
	"strings"
	"testing"
)

func TestApprovalByVotesIsOffAtFirstAndRefusesWhatMadeUpListenersReach(t *testing.T) {
	cfg, _, err := Load(Source{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	set := cfg.Social
	if set.Needed() != 0 || set.Votes != 10 || len(set.Approve) != 0 {
		t.Errorf("at first: %+v", set)
	}
	set.Approve = []string{"trusted", "voted"}
	if set.Needed() != 10 || len(set.validate()) != 0 {
		t.Errorf("with the rule: %d, %v", set.Needed(), set.validate())
	}
	for _, votes := range []int{-1, 0, 3, 1001} {
		set.Votes = votes
		if wrong := set.validate(); len(wrong) != 1 || !strings.HasPrefix(wrong[0].Error(), "social.approve_votes: must be 4 to 1000") {
			t.Errorf("%d votes: %v", votes, wrong)
		}
	}
	set.Votes, set.Approve = 4, []string{"votes"}
	if wrong := set.validate(); len(wrong) != 1 || !strings.Contains(wrong[0].Error(), `"votes" is not known: use trusted, regulars, voted`) {
		t.Errorf("an unknown rule: %v", wrong)
	}
}
