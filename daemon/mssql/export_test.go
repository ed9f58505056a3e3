package mssql

import "time"

// Described exports described to external tests.
var Described = (*Conn).describeColumns

// ShortenLimits makes connections check for a response before each use, and reduces the time
// limit for the end of transactions.
func (s *Server) ShortenLimits() {
	s.connector.limits.checkAfter, s.connector.limits.end = 0, 100*time.Millisecond
}
