package delivery

import (
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// Limits of the sequences of queues.
const (
	maxOfQueue   = 10_000 // of a queue: if there are more, later messages wait in the store
	minSequences = 64     // of a queue, even if all queues together have too many
	sequenceCost = 256    // approximate memory of a sequence in bytes
	maxBehind    = 15     // messages of a sequence in memory behind the first
)

// sequence has the open messages with one key in a queue that is ordered by key, of which
// only the first may be attempted. A message without a key is a sequence of its own. Since
// a queue reads its messages in order, the first one of a key that it reads is the first.
//
// With a shared store it may not be: messages of other daemons can become visible after
// later ones. There, each message is read by its key before it becomes the current one: a
// statement that returns it returns all that were published before it.
type sequence struct {
	key        string
	partition  int64
	first      int64              // ID of the first message
	current    *webhook.Message   // the first message in memory; nil if it is only in the store
	behind     []*webhook.Message // that follow it, in memory
	storedFrom int64              // ID from which on messages are only in the store; 0 if there are none
	added      int64              // lowest ID left to the store while messages of the sequence are read; 0 for none
	due        time.Time          // due time of the first message if it is only in the store
}

// sequences are those of a queue that is ordered by key.
type sequences struct {
	q        *queue
	byKey    map[string]*sequence
	stored   []*sequence // without current, ordered by due time
	readNext bool        // the next page is of one of them if it is due, otherwise at the cursor
}

// sequenceKey returns the key of a message's sequence. Keys of events have no control
// characters.
func sequenceKey(m *webhook.Message) string {
	if m.Event.Key != "" {
		return m.Event.Key
	}
	return "\x00" + strconv.FormatInt(m.ID, 10)
}

// store lists a sequence with their first message only in the store.
func (ss *sequences) store(s *sequence, due time.Time) {
	s.current = nil
	s.due = due
	i := sort.Search(len(ss.stored), func(i int) bool { return ss.stored[i].due.After(due) })
	ss.stored = slices.Insert(ss.stored, i, s)
}

// unlist reverses store.
func (ss *sequences) unlist(s *sequence) {
	if i := slices.Index(ss.stored, s); i >= 0 {
		ss.stored = slices.Delete(ss.stored, i, i+1)
	}
}

// due returns a sequence with a first message that must be read now, nil if there is none.
func (ss *sequences) due(now time.Time) *sequence {
	if len(ss.stored) > 0 && !ss.stored[0].due.After(now) {
		return ss.stored[0]
	}
	return nil
}

// page returns the page of the messages of a sequence.
func (ss *sequences) page(s *sequence, now time.Time, limit int) Page {
	s.added = 0
	p := Page{
		Partition:    s.partition,
		Subscription: ss.q.id,
		After:        Position{ID: s.first - 1},
		Until:        now,
		InOrder:      true,
		Limit:        min(limit, 1+maxBehind),
		sequence:     s,
	}
	if s.key[0] == 0 { // a message without a key
		p.Limit = 1
		return p
	}
	p.Key = s.key
	c := ss.q.cursors.of(s.partition)
	if ss.q.shared && c != nil {
		p.After.ID = min(p.After.ID, c.safe.ID)
		p.Limit = min(limit, 2) // the second one shows that there are more
	}
	return p
}

// mustRead reports whether a message must be read by its key before it is attempted.
func (ss *sequences) mustRead(m *webhook.Message) bool { return ss.q.shared && m.Event.Key != "" }

// lowest returns the lower ID; 0 is none.
func lowest(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// crowded reports whether the queue must have no more sequences.
func (ss *sequences) crowded() bool {
	n := len(ss.byKey)
	if n >= ss.q.budget.maxOfQueue {
		return true
	}
	return n >= minSequences && ss.q.budget.sequences >= ss.q.budget.maxSequences
}

// place adds a message that is not in memory to its sequence. Unless it is loaded, it stays
// in the store. It returns false if the queue is crowded.
func (ss *sequences) place(m *webhook.Message, loaded bool) bool {
	key := sequenceKey(m)
	s := ss.byKey[key]
	switch {
	case s == nil && ss.crowded():
		return false
	case s == nil:
		s = &sequence{key: key, partition: m.Partition}
		ss.byKey[key] = s
		ss.q.budget.sequences++
	case m.ID > s.first:
		ss.placeBehind(s, m, loaded)
		return true
	case m.ID < s.first && ss.q.unsettled[s.first] != nil:
		ss.leave(s, m.ID) // it is the next one
		return true
	case m.ID < s.first:
		if s.current != nil {
			ss.q.window.unlist(s.current)
			ss.q.budget.release(s.current)
		}
		ss.leave(s, s.first)
	}
	ss.placeFirst(s, m, loaded && !ss.mustRead(m))
	return true
}

// placeFirst makes a message the first one of a sequence.
func (ss *sequences) placeFirst(s *sequence, m *webhook.Message, loaded bool) {
	ss.unlist(s)
	s.first = m.ID
	if !loaded {
		ss.store(s, m.Next)
		return
	}
	s.current = m
	ss.q.track(m)
	ss.q.window.list(m)
}

// placeBehind adds a message behind the first one of a sequence. It stays in the store if
// others before it do, or if memory is short.
func (ss *sequences) placeBehind(s *sequence, m *webhook.Message, loaded bool) {
	n := len(s.behind)
	isOutOfOrder := n > 0 && m.ID < s.behind[n-1].ID
	followsStored := s.current == nil || s.storedFrom != 0 || isOutOfOrder
	isUnloaded := !loaded || ss.mustRead(m)
	hasRoom := n < maxBehind && !ss.q.budget.tierOf(ss.q).scarce()
	if isUnloaded || followsStored || !hasRoom {
		ss.leave(s, m.ID)
		return
	}
	ss.q.track(m)
	s.behind = append(s.behind, m)
}

// leave leaves the messages of a sequence from an ID on to the store.
func (ss *sequences) leave(s *sequence, id int64) {
	for n := len(s.behind) - 1; n >= 0 && s.behind[n].ID >= id; n-- {
		ss.q.window.remove(s.behind[n])
		ss.q.budget.release(s.behind[n])
		s.behind = slices.Delete(s.behind, n, n+1)
	}
	s.storedFrom = lowest(s.storedFrom, id)
	s.added = lowest(s.added, id)
}

// heads reports whether a message is the first one of its sequence.
func (ss *sequences) heads(m *webhook.Message) (*sequence, bool) {
	if !ss.q.byKey() {
		return nil, false
	}
	s := ss.byKey[sequenceKey(m)]
	return s, s != nil && s.current == m
}

// unload leaves the messages behind the first one of a sequence to the store.
func (ss *sequences) unload(s *sequence) {
	if len(s.behind) > 0 {
		ss.leave(s, s.behind[0].ID)
	}
}

// suspend leaves a sequence to the store. If its first message has failed, the sequence
// waits until the next attempt is due. Otherwise it returns false, and the cursor must be
// moved back to the message.
func (ss *sequences) suspend(s *sequence) bool {
	if s.current.Status == webhook.RetryPending {
		ss.postpone(s)
		return true
	}
	ss.unload(s)
	ss.forget(s)
	return false
}

// postpone leaves a sequence to the store until its first message is due.
func (ss *sequences) postpone(s *sequence) {
	ss.unload(s)
	ss.store(s, s.current.Next)
}

// forget removes a sequence without messages in memory.
func (ss *sequences) forget(s *sequence) {
	delete(ss.byKey, s.key)
	ss.q.budget.sequences--
}

// advance continues a sequence after its first message has ended. After a change of the
// order there can be others in flight.
func (ss *sequences) advance(s *sequence) {
	s.current = nil
	for _, m := range ss.q.unsettled {
		if sequenceKey(m) == s.key {
			s.first = m.ID
			s.current = m
			return
		}
	}
	switch {
	case len(s.behind) > 0:
		s.current = pop(&s.behind)
		s.first = s.current.ID
		ss.q.window.list(s.current)
	case s.storedFrom != 0:
		s.first = s.storedFrom
		s.storedFrom++
		ss.store(s, time.Time{})
	default:
		ss.forget(s)
	}
}

// end ends a message: the next one of its sequence may be attempted.
func (ss *sequences) end(m *webhook.Message) {
	if s, ok := ss.heads(m); ok {
		ss.advance(s)
	}
}

// reset forgets the sequences, except that messages in flight remain the first.
func (ss *sequences) reset() {
	ss.q.budget.sequences -= len(ss.byKey)
	ss.byKey = make(map[string]*sequence)
	ss.stored = nil
	if !ss.q.byKey() {
		return
	}
	for _, m := range ss.q.unsettled {
		key := sequenceKey(m)
		if ss.byKey[key] == nil {
			ss.byKey[key] = &sequence{key: key, partition: m.Partition, first: m.ID, current: m}
			ss.q.budget.sequences++
		}
	}
}

// mayLoad reports whether a message of a page may be needed in memory now. ahead counts the
// messages of each sequence that precede it in the page.
func (ss *sequences) mayLoad(m *webhook.Message, now time.Time, ahead map[string]int) bool {
	if !ss.q.byKey() {
		return true
	}
	key := sequenceKey(m)
	n := ahead[key]
	if !ss.needs(m, ss.byKey[key], n, now) {
		ahead[key] = 1 + maxBehind // nor those behind it
		return false
	}
	ahead[key] = n + 1
	return true
}

// needs reports whether a message that follows n others of its sequence in a page may be needed in
// memory now. s is nil if the sequence is not known yet.
func (ss *sequences) needs(m *webhook.Message, s *sequence, n int, now time.Time) bool {
	if s != nil && s.current != nil {
		hasRoom := s.storedFrom == 0 && len(s.behind)+n < maxBehind
		return m.ID < s.first || hasRoom
	}
	if n > 0 {
		return n <= maxBehind
	}
	if m.Next.After(now) {
		return false
	}
	if s == nil {
		return !ss.mustRead(m)
	}
	return m.ID <= s.first
}

// add adds the messages of a sequence that were read.
func (ss *sequences) add(p Page, messages []*webhook.Message, whole bool) {
	s := p.sequence
	if ss.byKey[s.key] != s || s.current != nil {
		return // it has changed since the page was requested
	}
	if len(messages) == 0 && !whole {
		return
	}
	storedFrom := s.added
	if !whole && p.Key != "" {
		last := messages[len(messages)-1]
		storedFrom = lowest(storedFrom, last.ID+1)
	}
	// SQL Server ignores spaces at the end of a key.
	messages = slices.DeleteFunc(messages, func(m *webhook.Message) bool { return sequenceKey(m) != s.key })

	ss.unlist(s)
	s.first = 0
	s.storedFrom = 0
	for _, m := range messages {
		loaded := p.loaded(m) && ss.q.budget.tierOf(ss.q).fits(ss.q.budget.cost(m))
		switch {
		case ss.q.has(m.ID) || ss.q.settledSinceRead[m.ID]:
		case s.first == 0:
			ss.placeFirst(s, m, loaded)
		default:
			ss.placeBehind(s, m, loaded)
		}
	}
	if storedFrom != 0 {
		ss.leave(s, storedFrom)
	}
	if s.first == 0 {
		ss.advance(s)
	}
}
