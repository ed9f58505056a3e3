package client_test

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/bizhook/whd/client"
)

func TestBillRequests(t *testing.T) {
	var request string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		request = r.Method + " " + r.URL.EscapedPath() + " " + string(body)
		text := `{"SettingID":"F","SettingName":"Colour","Contents":"red"}`
		if r.URL.Path == "/Bills/B/Stages/S/CustomFieldValues.json" {
			text = "[" + text + `,{"SettingID":"G"}]`
		}
		respond(200, "application/json", text)(w, r)
	})
	ctx := context.Background()
	expect := func(want string, err error) {
		t.Helper()
		if err != nil || request != want {
			t.Errorf("request %s (%v), want %s", request, err, want)
		}
	}
	value, err := c.BillValue(ctx, client.BillField{BillID: "a/b  ", StageID: "日", SettingID: "x.csv"})
	expect("GET /Bills/a%2Fb%20%20/Stages/%E6%97%A5/CustomFieldValues/x.csv.json ", err)
	if value.SettingID != "F" || *value.SettingName != "Colour" || *value.Contents != "red" || value.PluginID != nil {
		t.Errorf("got %+v", value)
	}
	_, err = c.SetBillValue(ctx, client.BillField{BillID: "B", StageID: "S", SettingID: "F"}, "")
	expect(`PATCH /Bills/B/Stages/S/CustomFieldValues/F.json {"Contents":""}`, err)
	values, err := c.BillValues(ctx, client.BillStage{BillID: "B", StageID: "S"})
	expect("GET /Bills/B/Stages/S/CustomFieldValues.json ", err)
	if len(values) != 2 || *values[0].Contents != "red" || values[1].Contents != nil {
		t.Errorf("got %+v", values)
	}
	request = ""
	_, errValues := c.BillValues(ctx, client.BillStage{BillID: "B"})
	_, errSet := c.SetBillValue(ctx, client.BillField{BillID: "B", StageID: "S"}, "x")
	if errValues == nil || errSet == nil || request != "" {
		t.Errorf("without an ID: errors %v and %v, request %s", errValues, errSet, request)
	}
}

func TestBillNotFound(t *testing.T) {
	c := serve(t, respond(404, "application/json", `{"ResponseStatus":{"ErrorCode":"NotFound","Message":"there is no bill \"B\" (BillID)"}}`))
	_, err := c.BillValue(context.Background(), client.BillField{BillID: "B", StageID: "S", SettingID: "F"})
	if !client.Is(err, client.NotFound) || err.Error() != `NotFound: there is no bill "B" (BillID)` {
		t.Errorf("error %v", err)
	}
}
