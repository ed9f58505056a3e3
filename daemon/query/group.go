package query

import "github.com/bizhook/whd/client/record"

// Group makes one row of all rows that have the same value of a field, or a date in the
// same period. The kind of the request and of its plan has the columns of these rows: the
// field and the aggregates.
type Group struct {
	Source     *record.Kind // of the rows that are grouped, to which Where refers
	Field      int
	Period     Period
	Aggregates []Aggregate
}

// Period is the part of a date that rows are grouped by: its number of characters in the
// form 2019-05-01. 0 is the whole value.
type Period int

var periods = map[string]Period{"year": 4, "month": 7, "day": 10}

// MaxGroups is the maximum number of rows in the result of a request with GroupBy.
const MaxGroups = 100_000
