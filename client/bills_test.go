package client_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/bizhook/whd/client"
)

// billService answers the requests for custom fields, and records the last one.
type billService struct{ request string }

func (s *billService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.request = r.Method + " " + r.URL.EscapedPath() + " " + string(body)
	text := `{"SettingID":"F","SettingName":"Colour","Contents":"red"}`
	if r.URL.Path == "/Bills/B/Stages/S/CustomFieldValues.json" {
		text = "[" + text + `,{"SettingID":"G"}]`
	}
	respond(200, "application/json", text)(w, r)
}

func (s *billService) wantRequest(t *testing.T, want string) {
	t.Helper()
	if s.request != want {
		t.Errorf("sent %q, want %q", s.request, want)
	}
}

func TestBillRequests(t *testing.T) {
	service := new(billService)
	c := serve(t, service.ServeHTTP)

	value, err := c.BillValue(t.Context(), client.BillField{BillID: "a/b  ", StageID: "日", SettingID: "x.csv"})
	if err != nil {
		t.Fatal(err)
	}
	service.wantRequest(t, "GET /Bills/a%2Fb%20%20/Stages/%E6%97%A5/CustomFieldValues/x.csv.json ")
	if value.SettingID != "F" || *value.SettingName != "Colour" || *value.Contents != "red" || value.PluginID != nil {
		t.Errorf("BillValue returned %+v, want F, Colour, red and no plugin", value)
	}

	_, err = c.SetBillValue(t.Context(), client.BillField{BillID: "B", StageID: "S", SettingID: "F"}, "")
	if err != nil {
		t.Fatal(err)
	}
	service.wantRequest(t, `PATCH /Bills/B/Stages/S/CustomFieldValues/F.json {"Contents":""}`)

	values, err := c.BillValues(t.Context(), client.BillStage{BillID: "B", StageID: "S"})
	if err != nil {
		t.Fatal(err)
	}
	service.wantRequest(t, "GET /Bills/B/Stages/S/CustomFieldValues.json ")
	if len(values) != 2 || *values[0].Contents != "red" || values[1].Contents != nil {
		t.Errorf("BillValues returned %+v, want the contents red, and a field without contents", values)
	}
}

func TestBillRequestsNeedIDs(t *testing.T) {
	service := new(billService)
	c := serve(t, service.ServeHTTP)
	if _, err := c.BillValues(t.Context(), client.BillStage{BillID: "B"}); err == nil {
		t.Error("BillValues without a StageID returned no error")
	}
	if _, err := c.SetBillValue(t.Context(), client.BillField{BillID: "B", StageID: "S"}, "x"); err == nil {
		t.Error("SetBillValue without a SettingID returned no error")
	}
	service.wantRequest(t, "")
}

func TestBillNotFound(t *testing.T) {
	const notFound = `{"ResponseStatus":{"ErrorCode":"NotFound","Message":"there is no bill \"B\" (BillID)"}}`
	c := serve(t, respond(404, "application/json", notFound))
	_, err := c.BillValue(t.Context(), client.BillField{BillID: "B", StageID: "S", SettingID: "F"})
	wantKind(t, err, client.NotFound)
	if want := `NotFound: there is no bill "B" (BillID)`; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}
