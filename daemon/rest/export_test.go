package rest

import "testing"

// LimitChanges sets how often subscriptions may be changed by SubscriberID alone,
// until the test ends.
func LimitChanges(t *testing.T, r Rate) {
	was := changeRate
	changeRate = r
	t.Cleanup(func() { changeRate = was })
}
