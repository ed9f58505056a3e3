// Package check defines the results of diagnostic checks.
package check

import "slices"

// Status is the outcome of a check.
type Status string

// Statuses of results.
const (
	OK      Status = "ok"
	Warning Status = "warning" // works, but perhaps not as intended
	Failed  Status = "failed"  // does not work
	Skipped Status = "skipped" // does not apply, or depends on a failed check
)

// Short returns ok, warn, fail or skip.
func (s Status) Short() string { return string(s[:min(4, len(s))]) }

// Result is the result of a check.
type Result struct {
	Name   string // of the check
	Status Status
	Detail string `json:",omitempty"`
	Fix    string `json:",omitempty"` // suggested action
}

// AnyFailed reports whether any check failed.
func AnyFailed(all []Result) bool {
	return slices.ContainsFunc(all, func(r Result) bool { return r.Status == Failed })
}
