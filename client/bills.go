package client

import (
	"context"
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
	return bill[*wire.CustomFieldValue](ctx, c, call{method: http.MethodGet, reads: true}, field, true, nil)
}

// BillValues lists all custom fields of a bill's stage. Those that nothing is
// stored for have no Contents.
func (c *Client) BillValues(ctx context.Context, stage BillStage) ([]wire.CustomFieldValue, error) {
	return bill[[]wire.CustomFieldValue](ctx, c, call{method: http.MethodGet, reads: true}, BillField{BillID: stage.BillID, StageID: stage.StageID}, false, nil)
}

// SetBillValue changes what a custom field of a bill's stage holds, and gives
// what it holds then. Empty contents clear it.
func (c *Client) SetBillValue(ctx context.Context, field BillField, contents string) (*wire.CustomFieldValue, error) {
	return bill[*wire.CustomFieldValue](ctx, c, call{method: http.MethodPatch}, field, true, map[string]string{"Contents": contents})
}

// bill is answer for a field of a bill's stage, or for all of them.
func bill[T any](ctx context.Context, c *Client, what call, field BillField, one bool, request any) (document T, err error) {
	if what.path, err = field.path(one); err != nil {
		return document, err
	}
	return answer[T](ctx, c, what, request)
}
