package sqlite

// cacheSize is the number of statements that a connection keeps.
const cacheSize = 100

// cacheableText is the length of SQL text above which a statement is not kept:
// those with thousands of parameters take megabytes and seldom come again.
const cacheableText = 4 << 10

// cache holds the statements of a connection by their text, several of one text
// where they were in use at the same time.
type cache struct {
	byText map[string][]*Stmt
	count  int
	turn   uint64
}

// take hands out a statement that is not in use, or nil.
func (h *cache) take(sql string) *Stmt {
	for _, s := range h.byText[sql] {
		if !s.inUse {
			h.handOut(s)
			return s
		}
	}
	return nil
}

// add takes over a new statement, handed out.
func (h *cache) add(s *Stmt) {
	if h.byText == nil {
		h.byText = make(map[string][]*Stmt)
	}
	h.handOut(s)
	h.byText[s.sql] = append(h.byText[s.sql], s)
	for h.count++; h.count > cacheSize; {
		oldest := h.oldest()
		if oldest == nil {
			return // all in use: the cache is larger for a while
		}
		h.remove(oldest)
	}
}

func (h *cache) handOut(s *Stmt) {
	h.turn++
	s.inUse, s.used = true, h.turn
}

// oldest is the statement not in use that was handed out first, or nil.
func (h *cache) oldest() *Stmt {
	var oldest *Stmt
	for _, same := range h.byText {
		for _, s := range same {
			if !s.inUse && (oldest == nil || s.used < oldest.used) {
				oldest = s
			}
		}
	}
	return oldest
}

func (h *cache) remove(gone *Stmt) {
	same := h.byText[gone.sql]
	for i, s := range same {
		if s == gone {
			same = append(same[:i:i], same[i+1:]...)
			break
		}
	}
	if h.byText[gone.sql] = same; len(same) == 0 {
		delete(h.byText, gone.sql)
	}
	h.count--
	gone.finalize()
}

// reset ends every statement that is in use.
func (h *cache) reset() {
	for _, same := range h.byText {
		for _, s := range same {
			if s.inUse {
				s.Reset()
			}
		}
	}
}

// clear finalises every statement.
func (h *cache) clear() {
	for _, same := range h.byText {
		for _, s := range same {
			s.finalize()
		}
	}
	*h = cache{}
}
