package rest

import (
	"testing"

	"github.com/bizhook/whd/daemon/rest/edge"
)

// LimitChanges sets how often subscriptions may be changed by SubscriberID alone,
// until the test ends.
func LimitChanges(t *testing.T, r edge.Rate) {
	was := changeRate
	changeRate = r
	t.Cleanup(func() { changeRate = was })
}

// testRoutes is the table of routes.
func testRoutes() []edge.Route { return routesOf(newTable(new(handlers))) }
