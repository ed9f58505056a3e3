package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

// The examples ask a service that answers the same three invoices to all.
func exampleService() *httptest.Server {
	return httptest.NewServer(reply{lines: []string{
		`{"InvoiceID":"D100512","InvoiceTotal":40002.1500}`,
		`{"InvoiceID":"D100498","InvoiceTotal":1250.0000}`,
		`{"InvoiceID":"D100477"}`,
	}, count: "right"})
}

// Rows streams records of any number. A loop that ends without an error has
// seen all of them.
func ExampleClient_Rows() {
	service := exampleService()
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

// An *Error tells what the service said, KindOf what to do about it.
func ExampleKindOf() {
	service := httptest.NewServer(answer(400, "application/json",
		`{"ResponseStatus":{"ErrorCode":"ArgumentException","Message":"Take must be a whole number","Errors":[{"FieldName":"Take","Message":"must be a whole number"}]}}`))
	defer service.Close()
	c, _ := client.New(client.Options{URL: service.URL})
	kind, _ := record.Builtin().Lookup("SO_Totals")

	_, err := c.Rows(context.Background(), client.Query{Kind: kind})
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println(client.KindOf(err), refused.Status, refused.Code)
		for _, field := range refused.Fields {
			fmt.Println(field.FieldName, field.Message)
		}
	}
	// Output:
	// rejected 400 ArgumentException
	// Take must be a whole number
}
