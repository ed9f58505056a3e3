package sqlite

import "slices"

// cacheSize is the maximum number of cached statements of a connection.
const cacheSize = 100

// cacheableText is the maximum length of the SQL of a cached statement: longer statements
// have thousands of parameters, need megabytes and are rarely repeated.
const cacheableText = 4 << 10

// cache contains the statements of a connection, the most recently used last. It may
// contain several for the same SQL if they were in use at the same time.
type cache []*Stmt

// get returns a statement that is not in use and marks it as used, or returns nil.
func (c *cache) get(sql string) *Stmt {
	for i, s := range slices.Backward(*c) {
		if !s.inUse && s.sql == sql {
			s.inUse = true
			*c = append(slices.Delete(*c, i, i+1), s)
			return s
		}
	}
	return nil
}

// add adds a new statement, which is in use. The cache exceeds its size while all
// statements are in use.
func (c *cache) add(s *Stmt) {
	s.inUse = true
	*c = append(*c, s)
	for len(*c) > cacheSize {
		oldest := slices.IndexFunc(*c, func(s *Stmt) bool { return !s.inUse })
		if oldest < 0 {
			return
		}
		c.remove((*c)[oldest])
	}
}

// remove removes a statement and finalizes it.
func (c *cache) remove(removed *Stmt) {
	*c = slices.DeleteFunc(*c, func(s *Stmt) bool { return s == removed })
	removed.finalize()
}

// reset resets every statement in use.
func (c *cache) reset() {
	for _, s := range slices.Backward(*c) { // Reset may remove the statement
		if s.inUse {
			s.Reset()
		}
	}
}

// clear finalizes every statement.
func (c *cache) clear() {
	for _, s := range *c {
		s.finalize()
	}
	*c = nil
}
