package client_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

// serveKinds serves a list of kinds with a tag.
func serveKinds(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("ETag", `W/"1"`)
	switch {
	case r.URL.Path != "/Kinds":
		w.WriteHeader(http.StatusBadRequest)
	case r.Header.Get("If-None-Match") == `W/"1"`:
		w.WriteHeader(http.StatusNotModified)
	default:
		io.WriteString(w, `[{"Name":"DB_Main","Operation":"DB_MainQuery","Area":"Debtors","Summary":"Debtors","Key":["DebtorID"],"Fields":[{"Name":"DebtorID","Type":"string"},{"Name":"CreditLimit","Type":"decimal?"},{"Name":"Place","Type":"geometry"}]},`+
			`{"Name":"Log","Operation":"ReadLog","Area":"","Summary":"","Fields":[{"Name":"ID","Type":"int"}]}]`)
	}
}

func TestKinds(t *testing.T) {
	c := serve(t, serveKinds)
	kinds, err := c.Kinds(t.Context())
	if err != nil || len(kinds.Kinds()) != 2 {
		t.Fatalf("%+v, %v", kinds, err)
	}
	k, ok := kinds.Lookup("db_mainquery")
	if !ok || k.Name != "DB_Main" || k.Area != "Debtors" || k.Summary != "Debtors" || len(k.Key) != 1 || k.OperationName != "" {
		t.Errorf("%+v", k)
	}
	if f := k.Fields[1]; f.TypeName() != "decimal?" || f.Filter != record.OrderedFilter {
		t.Errorf("%+v", f)
	}
	if _, filters := k.Member("PlaceIn"); filters && k.Fields[2].Filter.Allows(record.In) {
		t.Error("a field of an unknown type has filters")
	}
	if k, ok := kinds.Lookup("ReadLog"); !ok || k.Name != "Log" {
		t.Errorf("%+v", k)
	}
	list, err := c.KindList(t.Context(), "")
	if err != nil || list.ETag != `W/"1"` {
		t.Fatalf("%+v, %v", list, err)
	}
	if list, err = c.KindList(t.Context(), list.ETag); list != nil || err != nil {
		t.Errorf("unchanged: %+v, %v", list, err)
	}
}

// TestKindsOfEarlierVersion checks that a service without a list has the built-in kinds,
// and that other errors are errors.
func TestKindsOfEarlierVersion(t *testing.T) {
	status := http.StatusNotFound
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	if kinds, err := c.Kinds(t.Context()); kinds != record.Builtin() || err != nil {
		t.Errorf("%v, %v", kinds, err)
	}
	status = http.StatusNotModified // to a request without a tag
	if kinds, err := c.Kinds(t.Context()); kinds != nil || !client.Is(err, client.Failed) {
		t.Errorf("%v, %v", kinds, err)
	}
	status = http.StatusUnauthorized
	if kinds, err := c.Kinds(t.Context()); kinds != nil || !client.Is(err, client.Unauthorized) {
		t.Errorf("%v, %v", kinds, err)
	}
	c = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `[{"Name":"A","Fields":[]}]`)
	})
	if kinds, err := c.Kinds(t.Context()); kinds != nil || !client.Is(err, client.Failed) {
		t.Errorf("%v, %v", kinds, err)
	}
}
