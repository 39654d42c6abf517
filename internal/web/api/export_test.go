package api

// Row is one row of the endpoint table, as tests walk it.
type Row struct {
	Method, Path string
	BehindKey    bool // the guard of its row is the station key
}

// Rows is the endpoint table.
func Rows() []Row {
	var out []Row
	for _, r := range (&Server{}).routes() {
		out = append(out, Row{r.method, r.path, r.guard == stationKey})
	}
	return out
}
