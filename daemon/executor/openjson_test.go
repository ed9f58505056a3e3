package executor

import (
	"testing"

	"github.com/bizhook/whd/daemon/mssql"
)

// TestOpenJSONUnknown checks that a temporary error does not mean that the database has no OPENJSON.
func TestOpenJSONUnknown(t *testing.T) {
	for _, number := range []int{102, 208, 319} {
		if !isOpenJSONUnknown(&mssql.Error{Number: number}) {
			t.Errorf("error %d does not mean that OPENJSON is unknown, want that it does", number)
		}
	}
	for _, err := range []error{
		nil,
		&mssql.Error{Number: 701},
		&mssql.Error{Number: 1205},
		&mssql.Error{Number: 1222},
		mssql.ErrLost,
	} {
		if isOpenJSONUnknown(err) {
			t.Errorf("the error %v means that OPENJSON is unknown, want that it does not", err)
		}
	}
}
