// Package descriptors divides the file descriptors of the process, so that no use of them takes
// away those of another: a flood of connections from clients must not stop deliveries, and both
// must not keep the store from opening its files.
package descriptors

// Budget is how many descriptors each use may have.
type Budget struct {
	Limit      int // limit of the process; 0 for none
	Readers    int // connections to each file of the embedded store that read
	Deliveries int // connections to endpoints; 0 for no limit
	Clients    int // connections from clients; 0 for no limit
}

// Recommended is the limit of the process below which the service warns.
const Recommended = 4096

const (
	minReaders = 4
	fixed      = 40 // files other than those of readers: logs, locks, the writers of the store
	perReader  = 6  // descriptors of one reader of each of three files: the file and its log
)

// Divide divides a limit. The embedded store has up to wanted readers of each file, fewer if the
// limit is low. Deliveries have a third of the remaining descriptors, and clients the rest.
func Divide(limit, wanted int) Budget {
	if limit <= 0 {
		return Budget{Readers: wanted}
	}
	readers := min(wanted, max(minReaders, limit/32))
	remaining := max(3, limit-fixed-readers*perReader)
	deliveries := remaining / 3
	return Budget{
		Limit:      limit,
		Readers:    readers,
		Deliveries: deliveries,
		Clients:    remaining - deliveries,
	}
}

// Attempts divides the descriptors of deliveries: up to wanted attempts run at a time, with
// up to connections open ones; 0 for no limit. An attempt that connects may need two more
// descriptors for a moment: to look up a name, or for two addresses.
func (b Budget) Attempts(wanted int) (attempts, connections int) {
	if b.Deliveries == 0 {
		return wanted, 0
	}
	attempts = max(1, min(wanted, b.Deliveries/3))
	return attempts, b.Deliveries - 2*attempts
}

// Low reports whether the limit is lower than recommended.
func (b Budget) Low() bool { return b.Limit > 0 && b.Limit < Recommended }
