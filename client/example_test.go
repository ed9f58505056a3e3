package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

// exampleKinds is the registry of exampleService.
const exampleKinds = `[{
	"Name":"SO_Totals",
	"Operation":"SO_TotalsQuery",
	"Area":"Sales",
	"Summary":"Totals of sales orders",
	"Key":["InvoiceID"],
	"Fields":[{"Name":"InvoiceID","Type":"string"},{"Name":"InvoiceTotal","Type":"decimal?"}]
}]`

// Invoices of exampleService.
const (
	firstInvoice  = `{"InvoiceID":"D100512","InvoiceTotal":40002.1500}`
	secondInvoice = `{"InvoiceID":"D100498","InvoiceTotal":1250.0000}`
	emptyInvoice  = `{"InvoiceID":"D100477"}`
)

// exampleService has one kind, and replies to all queries with the same invoices.
func exampleService(invoices ...string) *httptest.Server {
	routes := http.NewServeMux()
	routes.HandleFunc("/Kinds", respond(http.StatusOK, "application/json", exampleKinds))
	routes.Handle("/", reply{lines: invoices, count: "correct"})
	return httptest.NewServer(routes)
}

// A query selects records of a kind, here of the registry of the service.
func Example() {
	service := exampleService(firstInvoice, secondInvoice)
	defer service.Close()
	c, err := client.New(client.Options{URL: service.URL, Token: "an API key"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	ctx := context.Background()
	kinds, err := c.Kinds(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	kind, ok := kinds.Lookup("SO_Totals")
	if !ok {
		fmt.Println("the service has no kind SO_Totals")
		return
	}
	rows, err := c.Rows(ctx, client.Query{
		Kind:    kind,
		Where:   []client.Filter{{Field: "InvoiceTotal", Operator: record.GreaterThan, Values: []string{"1000"}}},
		OrderBy: []string{"-InvoiceTotal"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for row, err := range rows.All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(row.Text("InvoiceID"), row.Text("InvoiceTotal"))
	}
	// Output:
	// D100512 40002.1500
	// D100498 1250.0000
}

// Rows streams any number of records. If the loop ends without an error, it has received
// all of them.
func ExampleClient_Rows() {
	service := exampleService(firstInvoice, secondInvoice, emptyInvoice)
	defer service.Close()
	c, err := client.New(client.Options{URL: service.URL, Token: "an API key"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	kind, _ := record.Builtin().Lookup("SO_Totals")
	rows, err := c.Rows(context.Background(), client.Query{
		Kind:    kind,
		Where:   []client.Filter{{Field: "InvoiceID", Operator: record.StartsWith, Values: []string{"D1"}}},
		Fields:  []string{"InvoiceID", "InvoiceTotal"},
		OrderBy: []string{"-InvoiceID"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for row, err := range rows.All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		if row.Value("InvoiceTotal").Null() {
			fmt.Println(row.Text("InvoiceID"), "has no total")
			continue
		}
		fmt.Println(row.Text("InvoiceID"), row.Text("InvoiceTotal"))
	}
	// Output:
	// D100512 40002.1500
	// D100498 1250.0000
	// D100477 has no total
}

// An *Error has the details of the service's reply. KindOf classifies errors by the
// reaction to them.
func ExampleKindOf() {
	const reply = `{"ResponseStatus":{` +
		`"ErrorCode":"ArgumentException",` +
		`"Message":"Take must be a whole number",` +
		`"Errors":[{"FieldName":"Take","Message":"must be a whole number"}]}}`
	service := httptest.NewServer(respond(400, "application/json", reply))
	defer service.Close()
	c, _ := client.New(client.Options{URL: service.URL})
	kind, _ := record.Builtin().Lookup("SO_Totals")

	_, err := c.Rows(context.Background(), client.Query{Kind: kind})
	var apiErr *client.Error
	if errors.As(err, &apiErr) {
		fmt.Println(client.KindOf(err), apiErr.Status, apiErr.Code)
		for _, field := range apiErr.Fields {
			fmt.Println(field.FieldName, field.Message)
		}
	}
	// Output:
	// rejected 400 ArgumentException
	// Take must be a whole number
}
