package changes

import "slices"

// From these numbers of differences on, a sweep publishes nothing more and is repeated.
const (
	alarmDifferences = 1000
	alarmDeletions   = 100
)

// gate decides which differences of a sweep are published.
type gate struct {
	first   bool      // the kind's first sweep, which only fills the shadow
	mute    bool      // publishes nothing: the kind has stopped, and its cause may be gone
	all     bool      // all differences are published, by order of an administrator
	confirm *suspects // only these are published; nil for a sweep that follows no alarm

	differences int
	deletions   int
	unpublished int      // differences that were not published
	suspects    suspects // the unpublished differences after an alarm
}

// decide decides about a difference.
func (g *gate) decide(op Op, e *Entry) decision {
	if g.first {
		return fill
	}
	if g.isOpenFor(op, e) {
		return publish
	}
	g.unpublished++
	return leave
}

// isOpenFor reports whether a difference is published. It counts those of a sweep that can end in an
// alarm.
func (g *gate) isOpenFor(op Op, e *Entry) bool {
	if g.confirm != nil && g.confirm.has(e) {
		return true
	}
	if g.mute {
		return false
	}
	if g.all {
		return true
	}
	if g.confirm != nil {
		return false
	}

	g.differences++
	if op == Deleted {
		g.deletions++
	}
	if g.differences < alarmDifferences && g.deletions < alarmDeletions {
		return true
	}
	g.suspects.add(e)
	return false
}

// isOrdered reports whether the sweep has to read the rows even if they cannot have changed: it
// follows the order of an administrator, or an alarm.
func (g *gate) isOrdered() bool { return g.all || g.confirm != nil }

// hasAlarm reports whether the sweep has found so many differences that another one has to confirm
// them.
func (g *gate) hasAlarm() bool {
	isConfirmation := g.confirm != nil
	return g.unpublished > 0 && !isConfirmation && !g.mute
}

// suspects are differences that are published only if the next sweep finds them too.
type suspects struct {
	seed    uint64
	numbers Bitmap   // numbers of rows in the shadow
	created []uint64 // from the hashes of the others, see hash
	sorted  bool
}

// hash returns 64 bits of the hash of a new row's key.
func (s *suspects) hash(key []byte) uint64 { return siphash([2]uint64{s.seed}, key)[0] }

func (s *suspects) add(e *Entry) {
	if e.Number > 0 {
		s.numbers.Set(e.Number)
		return
	}
	s.created = append(s.created, s.hash(e.Key))
}

// has reports whether a difference is one of the suspects, which are complete.
func (s *suspects) has(e *Entry) bool {
	if e.Number > 0 {
		return s.numbers.Has(e.Number)
	}
	if !s.sorted {
		slices.Sort(s.created)
		s.sorted = true
	}
	_, ok := slices.BinarySearch(s.created, s.hash(e.Key))
	return ok
}
