package rest

import (
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// readOnly are the members of a value that a change does not look at: clients
// of the existing service send back all that they got.
var readOnly = []string{"SettingName", "PluginID", "PluginName"}

// bills are the handlers of /Bills.
type bills struct{ service *erp.Bills }

// form reads the members of a request about a place, which the path names:
// where others name it too, the path wins.
func (h *bills) form(x *edge.Context) (*form, erp.StageField) {
	f := readForm(x)
	f.knows(erp.MemberBill, erp.MemberStage, erp.MemberSetting)
	return f, erp.StageField{
		BillID: x.Params.Get(erp.MemberBill), StageID: x.Params.Get(erp.MemberStage), SettingID: x.Params.Get(erp.MemberSetting),
	}
}

// set changes what a custom field of a bill's stage holds.
func (h *bills) set(x *edge.Context) error {
	f, at := h.form(x)
	f.knows(readOnly...)
	contents := read(f, erp.MemberContents, asText)
	if err := f.done(x); err != nil {
		return err
	}
	v, err := h.service.Set(x.Request.Context(), at, contents)
	return x.Answer("CustomFieldValue", billDocument(x, f)(v), err)
}

// value reads one custom field of a bill's stage.
func (h *bills) value(x *edge.Context) error {
	f, at := h.form(x)
	if err := f.done(x); err != nil {
		return err
	}
	v, err := h.service.Value(x.Request.Context(), at)
	return x.Answer("CustomFieldValue", billDocument(x, f)(v), err)
}

// values lists the custom fields of a bill's stage: all that there are, in
// the order in which the ERP displays them. A field that the stage stores
// nothing for has no Contents.
func (h *bills) values(x *edge.Context) error {
	f, at := h.form(x)
	if err := f.done(x); err != nil {
		return err
	}
	all, err := h.service.Values(x.Request.Context(), at.BillID, at.StageID)
	return edge.List(x, "CustomFieldValues", all, err, billDocument(x, f))
}

// fullValue is a value whose nulls are written.
type fullValue struct {
	SettingID   string
	SettingName *string
	Contents    *string
	PluginID    *string
	PluginName  *string
}

// billDocument is how values are answered. Formats of rows and columns have all
// columns, whatever the values are.
func billDocument(x *edge.Context, f *form) func(wire.CustomFieldValue) any {
	columns := x.Format.Name == "csv" || x.Format.Name == "html"
	nulls := columns || strings.EqualFold(f.members.Text(query.Nulls), "include")
	return func(v wire.CustomFieldValue) any {
		if nulls {
			return fullValue(v)
		}
		return v
	}
}
