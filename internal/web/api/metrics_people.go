package api

// peopleFigures returns the metrics of who works at the station.
func (s *Server) peopleFigures() []Metric {
	stats := s.opt.People.Stats
	return []Metric{
		{Name: "people_users", Help: "Users.", Read: value(func() float64 { return float64(stats().Users) })},
		{Name: "people_sessions", Help: "Browsers that are logged in.", Read: value(func() float64 { return float64(stats().Sessions) })},
		{Name: "people_keys", Help: "Keys of programs.", Read: value(func() float64 { return float64(stats().Keys) })},
		{Name: "people_logins_total", Help: "Logins since the start.", Counter: true, Read: value(func() float64 { return float64(stats().Logins) })},
		{Name: "people_logins_refused_total", Help: "Wrong passwords, codes and passkeys since the start.", Counter: true, Read: value(func() float64 { return float64(stats().Refused) })},
	}
}
