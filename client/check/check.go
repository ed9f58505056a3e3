// Package check has what a check of the service, or of the way to it, has found.
package check

import "slices"

// Status says how a check went.
type Status string

// The statuses of results.
const (
	OK      Status = "ok"
	Warning Status = "warning" // it works, perhaps not as intended
	Failed  Status = "failed"  // something does not work
	Skipped Status = "skipped" // it does not apply, or another failure keeps it from being checked
)

// Short is the status in at most four letters: ok, warn, fail or skip.
func (s Status) Short() string { return string(s[:min(4, len(s))]) }

// Result is what one check has found.
type Result struct {
	Name   string // of the check
	Status Status
	Detail string `json:",omitempty"`
	Fix    string `json:",omitempty"` // what to do about it
}

// AnyFailed reports whether something does not work.
func AnyFailed(all []Result) bool {
	return slices.ContainsFunc(all, func(r Result) bool { return r.Status == Failed })
}
