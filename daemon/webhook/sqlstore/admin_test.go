package sqlstore

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
)

// TestHeaderLimitReadsIndex checks that the limit of headers reads the subscriptions of a subscriber
// from an index, without their rows.
func TestHeaderLimitReadsIndex(t *testing.T) {
	a := hooksInFile(t).Admin
	headers := []webhook.Header{{Name: "X", Value: "x"}}
	limits := a.limits(&webhook.Limits{HeaderBytes: 100}, nil, &headers)
	condition, args := conditionOf(limits, []any{sql.Named("Subscriber", "a"), sql.Named("Subscription", "b")})
	scanStep := func(row appdb.Row) (step string, err error) {
		var ignored int
		err = row.Scan(&ignored, &ignored, &ignored, &step)
		return step, err
	}
	steps, err := appdb.QueryAll(t.Context(), a.db, scanStep, "EXPLAIN QUERY PLAN SELECT 1 WHERE 1 = 1"+condition, args...)
	if err != nil {
		t.Fatal(err)
	}
	const want = "SEARCH w USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber (SubscriberID=?)"
	if !slices.Contains(steps, want) {
		t.Errorf("the plan is\n%s\nwant %s", strings.Join(steps, "\n"), want)
	}
}
