package rest_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	business "github.com/bizhook/whd/daemon/demo"
)

// publishedOrder has the members of the documents of the published interface, in its
// order. Those of the record kinds are in the registry.
var publishedOrder = map[string]string{
	"Event":            "Name Description",
	"Subscriber":       "RecID Name IsEnabled ItemNo LastSavedDateTime RowHash",
	"Subscription":     "RecID SY_WebhookSubscriber_RecID EventName URL ItemNo LastSavedDateTime RowHash",
	"Message":          "SubscriberID SubscriptionID MessageID EventName URL Body ItemNo Status Retries AddedDateTime LastSavedDateTime LastMessageResponseHTTPCode LastMessageResponseMessage",
	"MessageResponse":  "SubscriberID SubscriptionID MessageID MessageResponseID EventName URL Body MessageItemNo Status Retries AddedDateTime MessageLastSavedDateTime HTTPCode Message ItemNo LastSavedDateTime",
	"CustomFieldValue": "SettingID SettingName Contents PluginID PluginName",
	"RequestLog": "Id DateTime StatusCode StatusDescription HttpMethod AbsoluteUri PathInfo RequestBody RequestDto UserAuthId SessionId IpAddress ForwardedFor Referer " +
		"Headers FormData Items Session ResponseDto ErrorResponse ExceptionSource ExceptionData RequestDuration",
}

// memberIn matches a member of an item in a format.
var memberIn = map[string]string{
	"json":   `[{,]"(\w+)":`,
	"ndjson": `[{,]"(\w+)":`,
	"csv":    `(?:^|,)"?(\w+)"?`,
	"xml":    `<(\w+)[ />]`,
	"jsv":    `[{,](\w+):`,
	"html":   `<(?:th|dt)[^>]*>(?:<[^>]*>)*(\w+)`,
}

// TestMembersInPublishedOrder checks that the members of the published interface come
// first and in its order in every format.
func TestMembersInPublishedOrder(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--webhooks-allow-targets", "127.0.0.0/8")
	c := asAdmin(t, i)
	subscriber := "/Webhooks/Subscribers/" + read[wire.Subscriber](t,
		c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201)).RecID
	subscription := subscriber + "/Subscriptions/" + read[wire.Subscription](t,
		c.do("POST "+subscriber+"/Subscriptions", `{"URL":"http://127.0.0.1:9/","EventName":"*"}`).want(t, 201)).RecID
	c.do("POST "+subscription+"/Test", "").want(t, 202)
	bill, stage, setting := business.BillExample()
	paths := map[string][]string{
		"Event":            {"/Webhooks/Events"},
		"Subscriber":       {subscriber, "/Webhooks/Subscribers"},
		"Subscription":     {subscription, subscriber + "/Subscriptions", "/Webhooks/Subscriptions"},
		"Message":          {subscriber + "/Messages", "/Webhooks/Messages"},
		"MessageResponse":  {subscriber + "/Messages/Responses", "/Webhooks/Messages/Responses"},
		"CustomFieldValue": {billPath(bill, stage, setting)},
		"RequestLog":       {"/Logs"},
	}
	order := make(map[string][]string)
	for name, names := range publishedOrder {
		order[name] = strings.Fields(names)
	}

	for _, kind := range record.Builtin().Kinds() {
		order[kind.Name], paths[kind.Name] = kind.FieldNames(), []string{"/Queries/" + kind.Name}
	}

	for name, want := range order {
		for _, path := range paths[name] {
			for format, member := range memberIn {
				a := c.do("GET "+path+"?Take=1&nulls=include&format="+format, "").want(t, 200)
				body := a.body
				if _, results, found := strings.Cut(body, "Results"); found && format != "html" {
					body = results
				}
				if format == "csv" {
					body, _, _ = strings.Cut(body, "\r\n")
				}
				var got []string
				for _, m := range regexp.MustCompile(member).FindAllStringSubmatch(body, -1) {
					if slices.Contains(want, m[1]) && !slices.Contains(got, m[1]) {
						got = append(got, m[1])
					}
				}
				present := slices.DeleteFunc(slices.Clone(want),
					func(name string) bool { return !slices.Contains(got, name) })
				if !slices.Equal(got, present) {
					t.Errorf("%s %s as %s: order %v, want %v", name, path, format, got, present)
				}
				if len(got) < len(want) && name != "CustomFieldValue" && name != "MessageResponse" {
					t.Errorf("%s %s as %s has only %v: %s", name, path, format, got, shortened(a.body))
				}
			}
		}
	}
}
