package delivery

import "time"

// pace controls how many rows a step of the janitor removes and how long the janitor pauses. The
// number of rows adapts to the duration of steps.
type pace struct {
	rows, min, max int
	target         time.Duration // duration of a step
	interval       time.Duration // between two rounds
	pauseFactor    int           // initial ratio of the pause after a step to the step's duration
}

// An embedded store has a single writer, and publishers wait while a step runs: at first,
// steps use only 4 % of the time. On SQL Server a step locks only its own rows and takes a
// few round trips. Rounds are more frequent there, because only the janitor limits the size
// of the stored response bodies.
var (
	filePace = pace{
		rows:        100,
		min:         50,
		max:         2000,
		target:      2 * time.Millisecond,
		interval:    time.Hour,
		pauseFactor: 24,
	}
	serverPace = pace{
		rows:        1000,
		min:         100,
		max:         2000,
		target:      200 * time.Millisecond,
		interval:    time.Minute,
		pauseFactor: 4,
	}
)

// speedUpSteps is the number of consecutive steps after which pauses are halved, down
// to minPauseFactor, so that a large amount of work does not take forever.
const speedUpSteps = 32

// minPauseFactor is the minimum ratio of a pause to the preceding step. A long removal
// thus uses a quarter of the writer's time. This removes rows several times faster than
// deliveries can add them, and leaves most of the writer's time to publishers.
const minPauseFactor = 3

// minPause is the minimum pause after a step, however short the step was.
const minPause = time.Millisecond

// pause returns the pause after step n, which lasted so long with everything that it read. Only
// the time that it took of other writers counts, even if it has written nothing.
func (p *pace) pause(n int, r Removed, lasted time.Duration) time.Duration {
	if r.Took == 0 {
		return max(lasted, minPause) // the step has only read
	}
	factor := max(minPauseFactor, p.pauseFactor>>min(n/speedUpSteps, 8))
	return max(r.Took*time.Duration(factor), minPause)
}

// adjust adapts the number of rows to the duration of a step. A step that had less to
// remove and was fast enough is ignored, and so is one that removed no rows: its duration does not
// depend on their number.
func (p *pace) adjust(r Removed) {
	if r.Rows == 0 || r.Rows < p.rows && r.Took <= p.target {
		return
	}
	fits := float64(p.target) / float64(max(r.Took, time.Microsecond))
	p.rows = int(float64(p.rows) * min(max(fits, 0.5), 1.25))
	p.rows = min(max(p.rows, p.min), p.max)
}
