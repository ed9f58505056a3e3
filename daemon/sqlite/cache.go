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
func (h *cache) get(sql string) *Stmt {
	for i, s := range slices.Backward(*h) {
		if !s.inUse && s.sql == sql {
			s.inUse = true
			*h = append(slices.Delete(*h, i, i+1), s)
			return s
		}
	}
	return nil
}

// add adds a new statement, which is in use. The cache exceeds its size while all
// statements are in use.
func (h *cache) add(s *Stmt) {
	s.inUse = true
	*h = append(*h, s)
	for len(*h) > cacheSize {
		oldest := slices.IndexFunc(*h, func(s *Stmt) bool { return !s.inUse })
		if oldest < 0 {
			return
		}
		h.remove((*h)[oldest])
	}
}

// remove removes a statement and finalizes it.
func (h *cache) remove(removed *Stmt) {
	*h = slices.DeleteFunc(*h, func(s *Stmt) bool { return s == removed })
	removed.finalize()
}

// reset resets every statement in use.
func (h *cache) reset() {
	for _, s := range slices.Backward(*h) { // Reset may remove the statement
		if s.inUse {
			s.Reset()
		}
	}
}

// clear finalizes every statement.
func (h *cache) clear() {
	for _, s := range *h {
		s.finalize()
	}
	*h = nil
}
