package rest

import (
	"testing"

	"github.com/bizhook/whd/daemon/rest/edge"
)

// LimitChanges sets the rate limit of subscription changes by SubscriberID until the
// test ends.
func LimitChanges(t *testing.T, r edge.Rate) {
	was := changeRate
	changeRate = r
	t.Cleanup(func() { changeRate = was })
}

// testRoutes returns the table of routes.
func testRoutes() []edge.Route { return routesOf(newTable(new(handlers))) }
