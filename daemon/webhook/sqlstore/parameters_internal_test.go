package sqlstore

import (
	"testing"

	"github.com/bizhook/whd/daemon/webhook"
)

// TestParametersHaveTypes checks that no column of a new subscription is written as a NULL
// without a type, which SQLite and SQL Server accept, but Babelfish does not.
func TestParametersHaveTypes(t *testing.T) {
	var empty webhook.Subscription
	for _, c := range subscriptionAdded {
		if parameterOf(c.pointer(&empty)) == nil {
			t.Errorf("the parameter of %s is nil for an empty value, want a typed NULL", c.name)
		}
	}
}
