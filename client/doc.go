// Package client is the Go API of the service: typed queries whose rows arrive
// as a stream, log-in, and errors that say what went wrong.
//
// A query names a record kind of the registry and says what it wants:
//
//	kind, _ := record.Builtin().Lookup("SO_Totals")
//	q := client.Query{
//		Kind:    kind,
//		Where:   []client.Filter{{Field: "InvoiceTotal", Operator: record.GreaterThan, Values: []string{"1000"}}},
//		OrderBy: []string{"-InvoiceTotal"},
//	}
//
// Rows streams any number of records in constant memory and fails when the
// reply was cut short; Page fetches a few at once with their total. Values
// stay in the text form of the wire, so that no decimal goes through a float.
package client
