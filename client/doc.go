// Package client is the Go API of the service: typed queries with streamed rows,
// authentication, webhooks, and errors with their cause.
//
// A query selects records of a kind in a registry, here the registry of the service:
//
//	kinds, err := c.Kinds(ctx)
//	kind, ok := kinds.Lookup("SO_Totals")
//	q := client.Query{
//		Kind:    kind,
//		Where:   []client.Filter{{Field: "InvoiceTotal", Operator: record.GreaterThan, Values: []string{"1000"}}},
//		OrderBy: []string{"-InvoiceTotal"},
//	}
//
// Rows streams any number of records in constant memory and fails if the reply is
// incomplete. Page fetches a single page with the total. Values keep the text form of
// the wire, so decimals are not converted to floats.
package client
