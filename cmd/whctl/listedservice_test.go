package main

import (
	"fmt"
	"net/http"
	"strings"
)

const (
	subscriberID   = "576e2895-6354-4acc-8537-b5f4c05a334a"
	subscriptionID = "8ebfd694-f188-48a3-addc-4fe59a96c60e"
	messageID      = "019f1972-8d3e-74da-88ca-95a74c78faba"
)

// at returns a time of the service's resources, some minutes before the time of the tests.
func at(minutes int64) string {
	const testTime = 1783501811000 // in milliseconds; see invocation.clock
	return fmt.Sprintf("/Date(%d+0000)/", testTime-minutes*60000)
}

// serveListed serves resources of each kind.
func serveListed(w http.ResponseWriter, r *http.Request) {
	text, ok := listed()[r.URL.Path]
	if !ok {
		http.Error(w, r.URL.Path, http.StatusNotFound)
		return
	}
	query := r.URL.Query()
	isForMessage := query.Has("MessageID") || query.Has("MessageIDStartsWith")
	if r.URL.Path == "/Webhooks/Messages" && isForMessage {
		text = pageOf(listedMessages()[0])
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, text)
}

// listed has the replies by path.
func listed() map[string]string {
	return map[string]string{
		"/Webhooks/Messages":           pageOf(listedMessages()...),
		"/Webhooks/Messages/Responses": pageOf(listedAttempt()),
		"/Webhooks/Subscriptions":      pageOf(listedSubscriptions("")...),
		"/Webhooks/Subscribers":        pageOf(listedSubscriber()),
		"/Webhooks/Why":                listedHistory(),
		"/Webhooks/Stats":              listedStats(),
		"/ApiKeys":                     "[" + strings.Join(listedKeys, ",") + "]",
		"/ApiKeys/nightly":             listedKeys[0],
		"/Logs":                        pageOf(listedRequests...),
	}
}

// pageOf returns a page with all rows.
func pageOf(rows ...string) string {
	return fmt.Sprintf(`{"Offset":0,"Total":%d,"Results":[%s],"Meta":{},"ResponseStatus":{}}`,
		len(rows), strings.Join(rows, ","))
}

// listedMessages returns a message of each status.
func listedMessages() []string {
	return []string{
		listedMessage(messageID, 2, 2,
			`"LastMessageResponseHTTPCode":400,"LastMessageResponseMessage":"Bad Request",`+
				`"NextAttemptDateTime":"`+at(-5)+`"`),
		listedMessage("019f1972-8d3e-7a11-88ca-95a74c780001", 1, 0,
			`"LastMessageResponseHTTPCode":200,"LastMessageResponseMessage":"OK"`),
		listedMessage("019f1972-8d3e-7a11-88ca-95a74c780002", 0, 0,
			`"NextAttemptDateTime":"`+at(130)+`"`),
		listedMessage("019f1972-8d3e-7a11-88ca-95a74c780003", 3, 10,
			`"LastMessageResponseMessage":"dial tcp 10.2.0.9:8080: connect: connection refused"`),
	}
}

// listedMessage returns a message with some further members.
func listedMessage(id string, status, retries int, members string) string {
	return fmt.Sprintf(`{"MessageID":%q,"SubscriberID":%q,"SubscriptionID":%q,`+
		`"EventName":"inventory.updated",`+
		`"URL":"http://erp.acme.example/hooks/inventory/very/long/path/in",`+
		`"Body":"{\"ID\":\"D15\"}","ItemNo":137,"Status":%d,"Retries":%d,"MaxRetries":9,`+
		`"AddedDateTime":%q,"LastSavedDateTime":%q,%s}`,
		id, subscriberID, subscriptionID, status, retries, at(130), at(3), members)
}

// listedAttempt returns an attempt with an escape sequence in the answer.
func listedAttempt() string {
	return fmt.Sprintf(`{"MessageID":%q,"ItemNo":3,"HTTPCode":400,"Message":"Bad Request",`+
		`"LastSavedDateTime":%q,"Duration":"PT0.0437S","Status":2,`+
		`"URL":"http://erp.acme.example/hooks/inventory/very/long/path/in",`+
		`"AnswerText":"{\n  \"error\": \"missing member \u001b[31mCustomerID\"\n}"}`,
		messageID, at(3))
}

// listedSubscriptions returns an enabled subscription, with the time since when it fails if that is
// not empty, and a disabled one.
func listedSubscriptions(failingSince string) []string {
	format := fmt.Sprintf(`{"RecID":%q,"SY_WebhookSubscriber_RecID":%q,"ItemNo":1,`+
		`"LastSavedDateTime":%q,"RowHash":"AA==","Ordered":false,`, subscriptionID, subscriberID, at(60*72))
	enabled := format + `"EventName":"inventory.*","IsEnabled":true,` +
		`"URL":"http://erp.acme.example/hooks/inventory/very/long/path/in?token=secret"`
	if failingSince != "" {
		enabled += fmt.Sprintf(`,"FailingSince":%q`, failingSince)
	}
	disabled := format + `"EventName":"debtor.*","IsEnabled":false,` +
		`"URL":"https://10.2.0.9:8080/notify","DisabledReason":"410 Gone"`
	return []string{enabled + "}", disabled + "}"}
}

func listedSubscriber() string {
	return fmt.Sprintf(`{"RecID":%q,"Name":"ACME shop","IsEnabled":true,"ItemNo":1,`+
		`"LastSavedDateTime":%q,"RowHash":"AA=="}`, subscriberID, at(60*30))
}

// listedHistory returns the history of a key.
func listedHistory() string {
	return fmt.Sprintf(`{"Key":"D100512","Steps":[`+
		`{"At":%q,"Step":"attempt","Text":"1: 400 Bad Request, 44ms"},`+
		`{"Step":"no event","Text":"no event with this key is stored: none was published, `+
		`no subscription received it, or its messages were deleted"}]}`, at(3))
}

var listedKeys = []string{
	`{"KeyID":"dfa00804-7f4f-4c2d-9f11-bed2d481fc18","Name":"nightly","Role":"reader",` +
		`"AddedDateTime":"2026-05-01T08:00:00","ExpiryDateTime":"2026-07-05T00:00:00",` +
		`"LastUsedDateTime":"2026-07-04T22:00:00"}`,
	`{"KeyID":"e1a00804-7f4f-4c2d-9f11-bed2d481fc18","Name":"erp","Role":"publisher",` +
		`"AddedDateTime":"2026-07-01T08:00:00","ExpiryDateTime":"2026-10-05T00:00:00"}`,
}

var listedRequests = []string{
	`{"DateTime":"2026-07-08T09:09:57.1234567","StatusCode":200,"HttpMethod":"GET",` +
		`"PathInfo":"/Queries/SO_Totals","RequestDuration":"PT0.0123S",` +
		`"UserAuthId":"ann","IpAddress":"10.0.0.7"}`,
	`{"DateTime":"2026-07-08T09:09:51.1234567","StatusCode":503,"HttpMethod":"POST",` +
		`"PathInfo":"/Webhooks/Events","RequestDuration":"PT1M2.5S",` +
		`"UserAuthId":"erp","IpAddress":"10.0.0.8"}`,
}

// listedStats returns the statistics of two hours, in which some attempts failed.
func listedStats() string {
	delivered := minutes(func(i int) int { return i * 3 / 5 })
	failed := minutes(func(i int) int { return i % 7 / 6 })
	givenUp := minutes(func(int) int { return 0 })
	return fmt.Sprintf(`{"ServerDateTime":%q,"SinceDateTime":%q,"Window":"PT2H",`+
		`"Totals":{"Events":1204,"Messages":4020,"Delivered":4000,"Failed":17,"GivenUp":3},`+
		`"SuccessRate":0.99502,"Latency":{"P50":"PT0.012S","P95":"PT3.5S","P99":"PT14S"},`+
		`"Minutes":{"From":%q,"Delivered":[%s],"Failed":[%s],"GivenUp":[%s]},`+
		`"Depth":{"CountedDateTime":%q,"NotSent":3,"RetryPending":12,"OldestDateTime":%q},`+
		`"InHand":{"InFlight":2,"OpenBreakers":1},"Subscriptions":3,"Disabled":1,`+
		`"QueueWindow":"PT1H","Queues":[`+
		`{"URL":"https://10.2.0.9:8080/notify","EventName":"debtor.*","Breaker":"open",`+
		`"Failed":14,"GivenUp":3,"Pending":12},`+
		`{"URL":"http://erp.acme.example/hooks/inventory/very/long/path/in",`+
		`"EventName":"inventory.*","Breaker":"closed","Delivered":4000,"Failed":3,"Pending":3}]}`,
		at(0), at(60*24*9), at(119), delivered, failed, givenUp, at(0), at(130))
}

// minutes returns the counts of two hours.
func minutes(count func(int) int) string {
	var counts []string
	for i := range 120 {
		counts = append(counts, fmt.Sprint(count(i)))
	}
	return strings.Join(counts, ",")
}
