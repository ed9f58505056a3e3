package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/bizhook/whd/client/wire"
)

// BillStage identifies a stage of a bill.
type BillStage struct{ BillID, StageID string }

// BillField identifies a custom field of a bill's stage.
type BillField struct{ BillID, StageID, SettingID string }

// formatExtension ends the paths of bills, so that an ID with such an ending is not truncated.
const formatExtension = ".json"

// path returns the path of the stage's custom fields, without formatExtension.
func (s BillStage) path() (string, error) {
	if s.BillID == "" {
		return "", errors.New("BillID is empty")
	}
	if s.StageID == "" {
		return "", errors.New("StageID is empty")
	}
	return "/Bills/" + url.PathEscape(s.BillID) + "/Stages/" + url.PathEscape(s.StageID) + "/CustomFieldValues", nil
}

// path returns the path of the field, without formatExtension.
func (f BillField) path() (string, error) {
	if f.SettingID == "" {
		return "", errors.New("SettingID is empty")
	}
	fields, err := BillStage{BillID: f.BillID, StageID: f.StageID}.path()
	return fields + "/" + url.PathEscape(f.SettingID), err
}

// BillValue returns the value of a custom field of a bill's stage.
func (c *Client) BillValue(ctx context.Context, field BillField) (*wire.CustomFieldValue, error) {
	path, err := field.path()
	if err != nil {
		return nil, err
	}
	var value *wire.CustomFieldValue
	err = c.do(ctx, call{method: http.MethodGet, path: path + formatExtension, reads: true}, &value)
	return value, err
}

// BillValues returns all custom fields of a bill's stage. Fields without a stored value
// have no Contents.
func (c *Client) BillValues(ctx context.Context, stage BillStage) ([]wire.CustomFieldValue, error) {
	path, err := stage.path()
	if err != nil {
		return nil, err
	}
	var values []wire.CustomFieldValue
	err = c.do(ctx, call{method: http.MethodGet, path: path + formatExtension, reads: true}, &values)
	return values, err
}

// SetBillValue changes a custom field of a bill's stage and returns the new value. Empty
// contents clear the field.
func (c *Client) SetBillValue(ctx context.Context, field BillField, contents string) (*wire.CustomFieldValue, error) {
	path, err := field.path()
	if err != nil {
		return nil, err
	}
	return patch[*wire.CustomFieldValue](ctx, c, path+formatExtension, map[string]string{"Contents": contents})
}
