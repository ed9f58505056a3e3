// Calls five operations by the client that ogen has generated, and prints a line for each.
// Arguments: the URL of the service, and an API key.
package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"strings"

	"example.com/clients/ogen/api"
	"github.com/ogen-go/ogen/ogenerrors"
)

// key is the API key, which is sent in the way of one of the security schemes.
type key string

func (k key) Bearer(context.Context, api.OperationName) (api.Bearer, error) {
	return api.Bearer{Token: string(k)}, nil
}

func (key) Basic(context.Context, api.OperationName) (api.Basic, error) {
	return api.Basic{}, ogenerrors.ErrSkipClientSecurity
}

func (key) Session(context.Context, api.OperationName) (api.Session, error) {
	return api.Session{}, ogenerrors.ErrSkipClientSecurity
}

func (key) SessionHeader(context.Context, api.OperationName) (api.SessionHeader, error) {
	return api.SessionHeader{}, ogenerrors.ErrSkipClientSecurity
}

func main() {
	client, err := api.NewClient(os.Args[1], key(os.Args[2]))
	if err != nil {
		fail(err)
	}
	ctx := context.Background()

	totals, err := client.SOTotalsQueryGetQueriesSOTotals(ctx, api.SOTotalsQueryGetQueriesSOTotalsParams{
		InvoiceTotalGreaterThan: api.NewOptFloat64(24000),
		InvoiceIDStartsWith:     api.NewOptString("D"),
		OrderBy:                 api.NewOptString("-InvoiceTotal"),
		Take:                    api.NewOptInt32(3),
	})
	rows, ok := totals.(*api.QueryResponseSOTotalsHeaders)
	if !ok {
		fail(totals, err)
	}
	var ids []string
	for _, row := range rows.Response.Results {
		ids = append(ids, row.InvoiceID.Value)
	}
	fmt.Println("totals", strings.Join(ids, ","))

	inputs, err := client.BMInputsQueryPostQueriesBMInputs(ctx, &api.BMInputsQueryPostQueriesBMInputsApplicationJSON{
		ItemNoBetween:              []int32{2, 3},
		SubAssemblyExplodePolicyIn: api.NewOptString(base64.StdEncoding.EncodeToString([]byte{1, 2})),
		Take:                       api.NewOptInt32(1),
		Include:                    api.NewOptString("Total"),
	}, api.BMInputsQueryPostQueriesBMInputsParams{})
	page, ok := inputs.(*api.QueryResponseBMInputsHeaders)
	if !ok {
		fail(inputs, err)
	}
	fmt.Println("inputs", page.Response.Total)

	published, err := client.Events(ctx)
	events, ok := published.(*api.EventsOKApplicationJSON)
	if !ok {
		fail(published, err)
	}
	fmt.Println("events", len(*events))

	added, err := client.AddSubscriber(ctx, &api.AddSubscriberReqApplicationJSON{Name: "Generated"})
	subscriber, ok := added.(*api.SubscriberDocument)
	if !ok {
		fail(added, err)
	}
	fmt.Println("subscriber", subscriber.Name)

	params := api.AddSubscriptionParams{SubscriberID: subscriber.RecID}
	request := &api.AddSubscriptionReqApplicationJSON{
		URL: "http://127.0.0.1:1", EventName: "*",
		Headers: []api.AddSubscriptionReqApplicationJSONHeadersItem{{Name: "X-Shop", Value: "7"}},
	}
	created, err := client.AddSubscription(ctx, request, params)
	subscription, ok := created.(*api.SubscriptionDocument)
	if !ok {
		fail(created, err)
	}
	fmt.Println("subscription", subscription.EventName, subscription.URL)

	request.EventName = "none.such"
	refused, err := client.AddSubscription(ctx, request, params)
	failure, ok := refused.(*api.FailureStatusCode)
	if !ok {
		fail(refused, err)
	}
	fmt.Println("refused", failure.StatusCode, failure.Response.ResponseStatus.Errors[0].FieldName.Value)
}

func fail(reasons ...any) {
	fmt.Fprintln(os.Stderr, reasons...)
	os.Exit(1)
}
