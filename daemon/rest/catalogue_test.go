package rest_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/rest"
)

// TestCatalogue checks the names of operations, and that other requests have none.
func TestCatalogue(t *testing.T) {
	c := rest.NewCatalogue(record.Builtin())
	for line, want := range map[string]string{
		"POST /json/reply/SO_TotalsQuery":                      "SO_TotalsQuery",
		"GET /csv/reply/so_totalsquery":                        "SO_TotalsQuery",
		"GET /api/SO_TotalsQuery":                              "SO_TotalsQuery",
		"POST /json/reply/SO_TotalsQuery[]":                    "SO_TotalsQuery",
		"POST /json/oneway/SO_TotalsQuery%5B%5D":               "SO_TotalsQuery",
		"GET /Queries/SO_Totals.csv":                           "SO_TotalsQuery",
		"GET /Logs/Today/Errors":                               "QueryRequestLogsGETManyRequest",
		"GET /Webhooks/Events/":                                "Events",
		"POST /json/reply/WebhooksEventsPOSTRequest":           "RaiseEvent",
		"PATCH /Bills/A 1%zz/Stages/b%20c/CustomFieldValues/d": "UpdateBillStageCustomFieldValue",
		"GET /auth/credentials":                                "Authenticate",
		"PUT /login":                                           "Authenticate",
		"HEAD /KeepAlive":                                      "KeepAlive",
		"OPTIONS /Users":                                       "OPTIONS",
		"GET /":                                                "Home",
		"GET /odata/SO_Totals":                                 "ODataRows",
		"GET /json/reply/DB_MainQuery":                         "",
		"GET /Queries/DB_Main":                                 "",
		"GET /Debtors/1":                                       "",
		"DELETE /auth":                                         "",
		"OPTIONS /nothing":                                     "",
		"GET /json/reply":                                      "",
	} {
		method, path, _ := strings.Cut(line, " ")
		if got, ok := c.Operation(method, path); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %t, want %q", line, got, ok, want)
		}
	}
}
