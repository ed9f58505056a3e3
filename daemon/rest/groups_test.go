package rest_test

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/encode/encodetest"
)

// TestGroups reads groups in each format: sums that a floating point number cannot represent
// are exact, and functions of no values are null.
func TestGroups(t *testing.T) {
	const rows = 1000
	c := asAdmin(t, startWithView(t, "INMGT020POQty", fmt.Sprintf(`SELECT (9007199254740993 + n) || '.0001' AS Qty, CASE WHEN n %%%% 3 THEN '-' || n || '.10' END AS Delivered,
		CASE n %%%% 3 WHEN 1 THEN 'L1' WHEN 2 THEN 'L<2>, "x"' END AS IN_LogicalID /* %%s */ FROM numbers LIMIT %d`, rows)))
	columns := []string{"IN_LogicalID", "SumQty", "least", "MaxQty", "Count", "SumDelivered"}
	want := make([]encodetest.Row, 3)
	for remainder, name := range []string{"", "L1", `L<2>, "x"`} {
		qty := new(big.Rat)
		delivered := new(big.Rat)
		var first, last int64
		count := 0
		for n := int64(1); n <= rows; n++ {
			if int(n%3) != remainder {
				continue
			}
			count++
			if first == 0 {
				first = n
			}
			last = n
			qty.Add(qty, new(big.Rat).Add(big.NewRat(9007199254740993+n, 1), big.NewRat(1, 10000)))
			delivered.Sub(delivered, new(big.Rat).Add(big.NewRat(n, 1), big.NewRat(1, 10)))
		}
		row := encodetest.Row{
			"IN_LogicalID": name,
			"SumQty":       qty.FloatString(4),
			"least":        fmt.Sprintf("%d.0001", 9007199254740993+first),
			"MaxQty":       fmt.Sprintf("%d.0001", 9007199254740993+last),
			"Count":        fmt.Sprint(count),
			"SumDelivered": delivered.FloatString(4),
		}
		if remainder == 0 {
			row["SumDelivered"] = ""
		}
		want[remainder] = row
	}

	path := "/Queries/INMGT020POQty?GroupBy=IN_LogicalID&Include=SUM(Qty),MIN(Qty)%20AS%20least,MAX(Qty),COUNT(*),SUM(Delivered)&OrderBy=IN_LogicalID"
	for _, f := range encode.Formats() {
		for _, page := range []struct{ from, to int }{{0, 3}, {1, 2}} {
			a := c.do(fmt.Sprintf("GET %s&Skip=%d&Take=%d&format=%s", path, page.from,
				page.to-page.from, f.Name), "").want(t, 200)
			got, err := encodetest.Rows(f.Name, []byte(a.body), columns)
			if err != nil || len(got) != page.to-page.from {
				t.Errorf("%s: %d rows, %v: %s", f.Name, len(got), err, shortened(a.body))
				continue
			}
			for i, row := range got {
				for _, name := range columns {
					text := row[name]
					expected := want[page.from+i][name]
					if !sameNumberOrText(text, expected) {
						t.Errorf("%s: %s of group %d is %q, want %q", f.Name, name, page.from+i, text, expected)
					}
				}
				if names := slices.Sorted(maps.Keys(row)); len(names) > len(columns) {
					t.Errorf("%s has the columns %q", f.Name, names)
				}
			}
		}
	}
}

// TestGroupsOfMessages reads the number of messages of each day and month.
func TestGroupsOfMessages(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-events", "giraffe.created", "--webhooks-allow-targets", "127.0.0.0/8")
	c := asAdmin(t, i)
	subscriber := "/Webhooks/Subscribers/" + read[wire.Subscriber](t,
		c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201)).RecID
	c.do("POST "+subscriber+"/Subscriptions", `{"URL":"http://127.0.0.1:9/","EventName":"*"}`).want(t, 201)
	for range 3 {
		c.do("POST /Webhooks/Events", `{"EventName":"giraffe.created","Body":{}}`).want(t, 201)
	}

	today := time.Now().UTC()
	for period, layout := range map[string]string{"day": time.DateOnly, "month": "2006-01", "year": "2006"} {
		for _, list := range []string{"/Webhooks/Messages", subscriber + "/Messages"} {
			path := list + "?GroupBy=AddedDateTime:" + period + "&Include=COUNT(*)&format=csv"
			c.do("GET "+path, "").want(t, 200).wantText(t, "AddedDateTime,Count", today.Format(layout)+",3")
		}
	}
}

// sameNumberOrText compares values of groups. Formats write the same number in different ways.
func sameNumberOrText(got, want string) bool {
	gotNumber, isNumber := new(big.Rat).SetString(got)
	wantNumber, isWantNumber := new(big.Rat).SetString(want)
	if !isWantNumber {
		return got == want
	}
	return isNumber && gotNumber.Cmp(wantNumber) == 0
}
