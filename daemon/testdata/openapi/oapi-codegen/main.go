// Calls five operations by the client that oapi-codegen has generated, and prints a line for
// each. Arguments: the URL of the service, and an API key.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	"example.com/clients/oapi-codegen/api"
)

func main() {
	withKey := api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Args[2])
		return nil
	})
	client, err := api.NewClientWithResponses(os.Args[1], withKey)
	if err != nil {
		fail(err)
	}
	ctx := context.Background()

	totals, err := client.SOTotalsQueryGetQueriesSOTotalsWithResponse(ctx, &api.SOTotalsQueryGetQueriesSOTotalsParams{
		InvoiceTotalGreaterThan: new(json.Number("24000")),
		InvoiceIDStartsWith:     new("D"),
		OrderBy:                 new("-InvoiceTotal"),
		Take:                    new(int32(3)),
	})
	if err != nil {
		fail(err)
	}
	if totals.JSON200 == nil {
		fail(string(totals.Body))
	}
	var ids []string
	for _, row := range totals.JSON200.Results {
		ids = append(ids, *row.InvoiceID)
	}
	fmt.Println("totals", strings.Join(ids, ","))

	inputs, err := client.BMInputsQueryPostQueriesBMInputsWithResponse(ctx, nil, api.BMInputsQuery{
		ItemNoBetween:              &[]int32{2, 3},
		SubAssemblyExplodePolicyIn: &[]byte{1, 2},
		Take:                       new(int32(1)),
		Include:                    new("Total"),
	})
	if err != nil {
		fail(err)
	}
	if inputs.JSON200 == nil {
		fail(string(inputs.Body))
	}
	fmt.Println("inputs", inputs.JSON200.Total)

	events, err := client.EventsWithResponse(ctx)
	if err != nil {
		fail(err)
	}
	if events.JSON200 == nil {
		fail(string(events.Body))
	}
	fmt.Println("events", len(*events.JSON200))

	added, err := client.AddSubscriberWithResponse(ctx, api.AddSubscriberJSONRequestBody{Name: "Generated"})
	if err != nil {
		fail(err)
	}
	if added.JSON201 == nil {
		fail(string(added.Body))
	}
	fmt.Println("subscriber", added.JSON201.Name)

	request := api.AddSubscriptionJSONRequestBody{
		URL: "http://127.0.0.1:1", EventName: "*",
		Headers: &[]struct {
			Name  string `json:"Name"`
			Value string `json:"Value"`
		}{{"X-Shop", "7"}},
	}
	created, err := client.AddSubscriptionWithResponse(ctx, added.JSON201.RecID, request)
	if err != nil {
		fail(err)
	}
	if created.JSON201 == nil {
		fail(string(created.Body))
	}
	fmt.Println("subscription", created.JSON201.EventName, created.JSON201.URL)

	request.EventName = "none.such"
	refused, err := client.AddSubscriptionWithResponse(ctx, added.JSON201.RecID, request)
	if err != nil {
		fail(err)
	}
	if refused.JSONDefault == nil {
		fail(string(refused.Body))
	}
	fmt.Println("refused", refused.StatusCode(), *(*refused.JSONDefault.ResponseStatus.Errors)[0].FieldName)
}

func fail(reasons ...any) {
	fmt.Fprintln(os.Stderr, reasons...)
	os.Exit(1)
}
