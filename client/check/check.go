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

	KnownDifference Status = "known difference" // works differently on this server, for a documented reason
	NotChecked      Status = "not checked"      // could not be checked here, for the reason in the detail
)

// Short returns a word of at most four letters.
func (s Status) Short() string {
	switch s {
	case KnownDifference:
		return "diff"
	case NotChecked:
		return "n/a"
	}
	return string(s[:min(4, len(s))])
}

// Result is the result of a check.
type Result struct {
	Name   string // name of the check
	Status Status
	Detail string `json:",omitempty"`
	Fix    string `json:",omitempty"` // suggested action
}

// AnyFailed reports whether any check failed.
func AnyFailed(results []Result) bool {
	return slices.ContainsFunc(results, func(r Result) bool { return r.Status == Failed })
}
