package erp

import (
	"slices"

	"github.com/bizhook/whd/client/record"
)

// Tracked is a table or view on the ERP's server that is missed if it vanishes.
type Tracked struct {
	Kind     *record.Kind // a record kind, or the description of a table of bills
	Optional bool         // an ERP need not have it
}

// Served has the names of the tables that have been served before.
type Served struct {
	Tables []string // tables that must exist
	Gone   []string // tables that an administrator has accepted as gone
}

// Presence lists the tracked tables by whether they are seen, by the names of their kinds. A table
// that does not exist looks the same as one without rights.
type Presence struct {
	New     []string // tables that are seen for the first time, or again
	Missing []string // tables that were served and are no longer seen
	Absent  []string // tables that are not seen, and need not exist
}

// LastPresence returns the presence while the server cannot be read: tables that have been
// served are taken as seen, others as not seen. Without any, all tables are taken as seen.
func LastPresence(tracked []Tracked, served Served) Presence {
	if len(served.Tables)+len(served.Gone) == 0 {
		return Presence{}
	}
	return presenceOf(tracked, served, func(name string) bool { return slices.Contains(served.Tables, name) })
}

func presenceOf(tracked []Tracked, served Served, seen func(name string) bool) (p Presence) {
	for _, t := range tracked {
		name := t.Kind.Name
		wasServed := slices.Contains(served.Tables, name)
		isSeen := seen(name)
		switch {
		case isSeen && !wasServed:
			p.New = append(p.New, name)
		case isSeen:
		case wasServed:
			p.Missing = append(p.Missing, name)
		case t.Optional || slices.Contains(served.Gone, name):
			p.Absent = append(p.Absent, name)
		}
	}
	return p
}
