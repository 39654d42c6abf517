package api

// NodeStanding is which broadcast node has the air, and which stands by.
type NodeStanding struct {
	Name    string         `json:"name" doc:"Its machine, address and data directory; empty: none has had it yet"`
	Host    string         `json:"host" doc:"Where the control plane finds it"`
	Fence   uint64         `json:"fence" doc:"Higher with each node that gets the air after another"`
	OnSpare bool           `json:"onSpare" doc:"It is the one at node.spare"`
	Wanted  bool           `json:"wanted" doc:"The settings name a spare (node.spare)"`
	Spare   *SpareStanding `json:"spare,omitempty" doc:"The node that stands by; none does without it"`
	ClockMS int64          `json:"clockMs" doc:"By how much its clock is ahead of the control plane's"`
	Unseen  int64          `json:"unseenMs" doc:"For how long the control plane has not seen its Icecast; 0: it does"`
	TookAt  int64          `json:"tookAt" doc:"Epoch milliseconds: when a spare last took the air since the control plane started; 0: none has"`
	TookWhy string         `json:"tookWhy" doc:"Why it did"`
}

// SpareStanding is how far the spare's copy is.
type SpareStanding struct {
	Name    string `json:"name"`
	Entries int    `json:"entries" doc:"What is still to come of the rotation"`
	Missing int    `json:"missing" doc:"Entries of these whose media it lacks"`
	Bytes   int64  `json:"missingBytes" doc:"Bytes of media that it lacks"`
	Host    string `json:"host" doc:"Where the control plane finds it"`
	ClockMS int64  `json:"clockMs" doc:"By how much its clock is ahead of the control plane's"`
	Unseen  int64  `json:"unseenMs" doc:"For how long it has not seen the Icecast of the node that has the air; 0: it does"`
	InPlace bool   `json:"inPlace" doc:"It holds the list, as far as its media go"`
	Problem string `json:"problem" doc:"Why not; empty where it does"`
}
