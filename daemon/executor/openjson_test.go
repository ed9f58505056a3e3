package executor

import (
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
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

// TestOpenJSONExpires checks that OPENJSON is found after an administrator has raised the compatibility
// level, which the test does for the cache only.
func TestOpenJSONExpires(t *testing.T) {
	pool, err := mssql.Open(mssql.Config{DSN: mssqltest.Database(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	conn, err := pool.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, c := range []struct {
		age  time.Duration
		want bool
	}{
		{catalogueTTL - time.Minute, false},
		{catalogueTTL, true},
	} {
		var o openJSON
		o.cached.Store(&openJSONResult{exists: false, expires: time.Now().Add(catalogueTTL - c.age)})
		if got, err := o.detect(t.Context(), conn); got != c.want || err != nil {
			t.Errorf("%v after the database had no OPENJSON: got %v (%v), want %v", c.age, got, err, c.want)
		}
	}
}
