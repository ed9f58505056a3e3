package client_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

// kindList has a kind with the usual operation and a field of an unknown type, and one with
// another operation.
const kindList = `[
	{
		"Name":"DB_Main",
		"Operation":"DB_MainQuery",
		"Area":"Debtors",
		"Summary":"Debtors of all branches",
		"Key":["DebtorID"],
		"Fields":[
			{"Name":"DebtorID","Type":"string"},
			{"Name":"CreditLimit","Type":"decimal?"},
			{"Name":"Place","Type":"geometry"}
		]
	},
	{"Name":"Log","Operation":"ReadLog","Area":"","Summary":"","Fields":[{"Name":"ID","Type":"int"}]}
]`

// kindTag is the tag of kindList.
const kindTag = `W/"1"`

// serveKinds serves kindList, unless the client has it already.
func serveKinds(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("ETag", kindTag)
	switch {
	case r.URL.Path != "/Kinds":
		w.WriteHeader(http.StatusBadRequest)
	case r.Header.Get("If-None-Match") == kindTag:
		w.WriteHeader(http.StatusNotModified)
	default:
		io.WriteString(w, kindList)
	}
}

func TestKinds(t *testing.T) {
	registry, err := serve(t, serveKinds).Kinds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(registry.Kinds()); n != 2 {
		t.Errorf("the service has %d kinds, want 2", n)
	}

	debtors, ok := registry.Lookup("db_mainquery")
	if !ok {
		t.Fatal("there is no kind with the operation DB_MainQuery")
	}
	got := fmt.Sprintf("%s, %s, %s, %s", debtors.Name, debtors.Area, debtors.Summary, debtors.Key)
	if want := "DB_Main, Debtors, Debtors of all branches, [DebtorID]"; got != want {
		t.Errorf("the kind is %s, want %s", got, want)
	}
	if debtors.OperationName != "" {
		t.Errorf("the kind has the operation name %s, want the default", debtors.OperationName)
	}
	limit := debtors.Fields[1]
	if limit.TypeName() != "decimal?" || limit.Filter != record.OrderedFilter {
		t.Errorf("CreditLimit is %s with the filters %s, want decimal? with those of numbers",
			limit.TypeName(), limit.Filter)
	}
	if place := debtors.Fields[2]; place.Filter != record.NoFilter {
		t.Errorf("Place, of an unknown type, has the filters %s, want none", place.Filter)
	}

	if log, ok := registry.Lookup("ReadLog"); !ok || log.Name != "Log" {
		t.Errorf("the operation ReadLog is of the kind %+v, want Log", log)
	}
}

func TestKindListHasTag(t *testing.T) {
	c := serve(t, serveKinds)
	list, err := c.KindList(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if list.ETag != kindTag {
		t.Errorf("the list has the tag %s, want %s", list.ETag, kindTag)
	}
	list, err = c.KindList(t.Context(), list.ETag)
	if list != nil || err != nil {
		t.Errorf("the unchanged list is %+v, %v, want nil", list, err)
	}
}

// TestKindsOfEarlierVersion checks that a service without a list has the built-in kinds,
// and that other errors are errors.
func TestKindsOfEarlierVersion(t *testing.T) {
	registry, err := serve(t, respond(http.StatusNotFound, "text/plain", "")).Kinds(t.Context())
	if registry != record.Builtin() || err != nil {
		t.Errorf("the kinds of a service without a list are %v, %v, want the built-in ones", registry, err)
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    client.Kind
	}{
		"not modified, for a request without a tag": {
			handler: respond(http.StatusNotModified, "text/plain", ""),
			want:    client.Failed,
		},
		"unauthorized": {
			handler: respond(http.StatusUnauthorized, "text/plain", ""),
			want:    client.Unauthorized,
		},
		"kind without fields": {
			handler: respond(http.StatusOK, "application/json", `[{"Name":"A","Fields":[]}]`),
			want:    client.Failed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			registry, err := serve(t, test.handler).Kinds(t.Context())
			if registry != nil {
				t.Errorf("got the kinds %v, want none", registry)
			}
			wantKind(t, err, test.want)
		})
	}
}
