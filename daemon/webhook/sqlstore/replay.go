package sqlstore

import "time"

// A replay is marked by its NextAttemptDateTime: it is replayYears before the time. The index of
// open messages thus has the replays of a subscription apart from the others, and a daemon of a
// version that does not know them takes them for retries that are due. The views show the time.
// The number is a multiple of the 400 years after which the calendar repeats.
const replayYears = 1200

// replaysBefore is after the due times of all replays and before all others.
var replaysBefore = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)

// isReplay is the condition that an open message is a replay.
const isReplay = `NextAttemptDateTime < '1900-01-01'`

// storedDue returns a due time as it is stored.
func storedDue(due time.Time, replay bool) time.Time {
	if !replay || due.IsZero() {
		return due
	}
	return due.AddDate(-replayYears, 0, 0)
}

// readDue reverses storedDue.
func readDue(stored time.Time) (due time.Time, replay bool) {
	if stored.IsZero() || !stored.Before(replaysBefore) {
		return stored, false
	}
	return stored.AddDate(replayYears, 0, 0), true
}
