package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/bizhook/whd/client/wire"
)

// BillStage identifies a stage of a bill.
type BillStage struct{ BillID, StageID string }

// BillField identifies a custom field of a bill's stage.
type BillField struct{ BillID, StageID, SettingID string }

// path returns the path of a stage's fields or of one field. It ends with a format
// extension, so that an ID with such an ending is not truncated.
func (f BillField) path(one bool) (string, error) {
	for name, id := range map[string]string{"BillID": f.BillID, "StageID": f.StageID, "SettingID": f.SettingID} {
		if id == "" && (one || name != "SettingID") {
			return "", fmt.Errorf("%s is empty", name)
		}
	}
	path := "/Bills/" + url.PathEscape(f.BillID) + "/Stages/" + url.PathEscape(f.StageID) + "/CustomFieldValues"
	if one {
		path += "/" + url.PathEscape(f.SettingID)
	}
	return path + ".json", nil
}

// BillValue returns the value of a custom field of a bill's stage.
func (c *Client) BillValue(ctx context.Context, field BillField) (*wire.CustomFieldValue, error) {
	return bill[*wire.CustomFieldValue](ctx, c, call{method: http.MethodGet, reads: true}, field, true, nil)
}

// BillValues returns all custom fields of a bill's stage. Fields without a stored value
// have no Contents.
func (c *Client) BillValues(ctx context.Context, stage BillStage) ([]wire.CustomFieldValue, error) {
	return bill[[]wire.CustomFieldValue](ctx, c, call{method: http.MethodGet, reads: true}, BillField{BillID: stage.BillID, StageID: stage.StageID}, false, nil)
}

// SetBillValue changes a custom field of a bill's stage and returns the new value. Empty
// contents clear the field.
func (c *Client) SetBillValue(ctx context.Context, field BillField, contents string) (*wire.CustomFieldValue, error) {
	return bill[*wire.CustomFieldValue](ctx, c, call{method: http.MethodPatch}, field, true, map[string]string{"Contents": contents})
}

// bill sends a request for one or all fields of a bill's stage.
func bill[T any](ctx context.Context, c *Client, req call, field BillField, one bool, request any) (document T, err error) {
	if req.path, err = field.path(one); err != nil {
		return document, err
	}
	return answer[T](ctx, c, req, request)
}
