package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/bizhook/whd/client/wire"
)

// BillStage names a stage of a bill.
type BillStage struct{ BillID, StageID string }

// BillField names a custom field of a stage of a bill.
type BillField struct{ BillID, StageID, SettingID string }

// path is that of the stage's fields, or of one of them. It ends with a format's
// name, since an id that ends like one would lose its end to it.
func (f BillField) path(one bool) (string, error) {
	for name, id := range map[string]string{"BillID": f.BillID, "StageID": f.StageID, "SettingID": f.SettingID} {
		if id == "" && (one || name != "SettingID") {
			return "", fmt.Errorf("the %s is empty", name)
		}
	}
	path := "/Bills/" + url.PathEscape(f.BillID) + "/Stages/" + url.PathEscape(f.StageID) + "/CustomFieldValues"
	if one {
		path += "/" + url.PathEscape(f.SettingID)
	}
	return path + ".json", nil
}

// BillValue is what a custom field of a bill's stage holds.
func (c *Client) BillValue(ctx context.Context, field BillField) (*wire.CustomFieldValue, error) {
	var value wire.CustomFieldValue
	if err := c.bill(ctx, field, call{method: http.MethodGet, reads: true}, true, &value); err != nil {
		return nil, err
	}
	return &value, nil
}

// BillValues lists all custom fields of a bill's stage. Those that nothing is
// stored for have no Contents.
func (c *Client) BillValues(ctx context.Context, stage BillStage) ([]wire.CustomFieldValue, error) {
	var values []wire.CustomFieldValue
	err := c.bill(ctx, BillField{BillID: stage.BillID, StageID: stage.StageID}, call{method: http.MethodGet, reads: true}, false, &values)
	return values, err
}

// SetBillValue changes what a custom field of a bill's stage holds, and gives
// what it holds then. Empty contents clear it.
func (c *Client) SetBillValue(ctx context.Context, field BillField, contents string) (*wire.CustomFieldValue, error) {
	body, err := json.Marshal(map[string]string{"Contents": contents})
	if err != nil {
		return nil, err
	}
	var value wire.CustomFieldValue
	if err := c.bill(ctx, field, call{method: http.MethodPatch, body: body}, true, &value); err != nil {
		return nil, err
	}
	return &value, nil
}

// bill sends a request about a bill's stage and reads the document of the reply.
func (c *Client) bill(ctx context.Context, field BillField, what call, one bool, document any) (err error) {
	if what.path, err = field.path(one); err != nil {
		return err
	}
	what.accept = mediaJSON
	reply, err := c.do(ctx, what)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	return readDocument(reply, document)
}
