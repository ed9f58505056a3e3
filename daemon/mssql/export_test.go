package mssql

import "time"

// Described is described, for tests of other packages.
var Described = (*Conn).described

// Hasten makes the server's connections ask for a sign of life each time, and
// gives their transactions little time to end.
func (s *Server) Hasten() {
	s.connector.limits.fresh, s.connector.limits.end = 0, 100*time.Millisecond
}
