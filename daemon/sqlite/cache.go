package sqlite

import "slices"

// cacheSize is the number of statements that a connection keeps.
const cacheSize = 100

// cacheableText is the length of SQL text above which a statement is not kept:
// those with thousands of parameters take megabytes and seldom come again.
const cacheableText = 4 << 10

// cache holds the statements of a connection, the one that was handed out last at
// the end. There are several of one text where they were in use at the same time.
type cache []*Stmt

// take hands out a statement that is not in use, or nil.
func (h *cache) take(sql string) *Stmt {
	for i, s := range slices.Backward(*h) {
		if !s.inUse && s.sql == sql {
			s.inUse = true
			*h = append(slices.Delete(*h, i, i+1), s)
			return s
		}
	}
	return nil
}

// add takes over a new statement, handed out. Where all are in use the cache is
// larger for a while.
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

func (h *cache) remove(gone *Stmt) {
	*h = slices.DeleteFunc(*h, func(s *Stmt) bool { return s == gone })
	gone.finalize()
}

// reset ends every statement that is in use.
func (h *cache) reset() {
	for _, s := range slices.Clone(*h) { // what is reset may leave the cache
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
