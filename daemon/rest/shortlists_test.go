package rest_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// TestPagesOfLists checks that lists other than queries have pages, too, and a header with the
// number of all items.
func TestPagesOfLists(t *testing.T) {
	c := asAdmin(t, daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8"))
	shop := read[wire.Subscriber](t, c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201))
	subscriptions := "/Webhooks/Subscribers/" + shop.RecID + "/Subscriptions"
	for i := range 3 {
		c.do("POST /Users", userJSON(i, "reader")).want(t, 201)
		c.do("POST /ApiKeys", fmt.Sprintf(`{"Name":"k%d","Role":"reader"}`, i)).want(t, 201)
		c.do("POST "+subscriptions, fmt.Sprintf(`{"EventName":"*","URL":"http://127.0.0.1/%d"}`, i)).want(t, 201)
	}
	for _, path := range []string{"/Users", "/ApiKeys", subscriptions} {
		t.Run(path, func(t *testing.T) { checkPages(t, c, path) })
	}

	page := `{"SubscriberID":"` + shop.RecID + `","Skip":1,"Take":1}`
	c.do("POST /json/reply/Subscriptions", page).want(t, 200).wantHeader(t, "X-Total", "3")
	const unknown = "/Webhooks/Subscribers/00000000-0000-4000-8000-000000000000/Subscriptions"
	c.do("GET "+unknown+"?Take=1", "").want(t, 404).wantHeader(t, "X-Total", "")
}

// checkPages checks the pages of a list of at least three items, and the errors of wrong pages.
func checkPages(t *testing.T, c client, path string) {
	t.Helper()
	items := jsonItems(t, c.do("GET "+path, "").want(t, 200))
	for _, test := range []struct {
		query    string
		from, to int
	}{
		{query: "Skip=0", from: 0, to: len(items)},
		{query: "Skip=1", from: 1, to: len(items)},
		{query: "Take=2", from: 0, to: 2},
		{query: "skip=1&take=1", from: 1, to: 2},
		{query: "Take=0", from: 0, to: 0},
		{query: "Take=", from: 0, to: len(items)},
		{query: "Skip=2&Take=2147483647", from: 2, to: len(items)},
		{query: "Skip=9", from: len(items), to: len(items)},
	} {
		a := c.do("GET "+path+"?"+test.query, "").want(t, 200)
		a.wantHeader(t, "X-Total", strconv.Itoa(len(items)))
		want := items[test.from:test.to]
		if got := jsonItems(t, a); !slices.Equal(got, want) {
			t.Errorf("%s?%s: got %s, want %s", path, test.query, got, want)
		}
	}

	for _, query := range []string{"Take=-1", "Skip=x", "Skip=2147483648", "Take=1&Take=2"} {
		want, _, _ := strings.Cut(query, "=")
		a := c.do("GET "+path+"?"+query, "").want(t, 400)
		if got := a.fieldNames(t); got != want {
			t.Errorf("%s?%s: got an error of the members %s, want %s", path, query, got, want)
		}
	}
}
