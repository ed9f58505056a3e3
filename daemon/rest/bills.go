package rest

import (
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
)

// readOnly are members that an update ignores: clients of the reference service send
// back all members that they received.
var readOnly = []string{"SettingName", "PluginID", "PluginName"}

// bills has the handlers of /Bills.
type bills struct{ service *erp.Bills }

// form reads the members of a request and its stage field. The path takes precedence
// over other members.
func (h *bills) form(x *edge.Context) (*form.Form, erp.StageField) {
	f := form.Read(x)
	f.Knows(erp.MemberBill, erp.MemberStage, erp.MemberSetting)
	return f, erp.StageField{
		BillID:    x.Params.Get(erp.MemberBill),
		StageID:   x.Params.Get(erp.MemberStage),
		SettingID: x.Params.Get(erp.MemberSetting),
	}
}

// set updates a custom field value of a bill's stage.
func (h *bills) set(x *edge.Context) error {
	f, field := h.form(x)
	f.Knows(readOnly...)
	contents := form.Value(f, erp.MemberContents, form.Text)
	if err := f.Done(x); err != nil {
		return err
	}
	v, err := h.service.Set(x.Request.Context(), field, contents)
	return x.Respond("CustomFieldValue", billDocument(x, f)(v), err)
}

// value returns one custom field value of a bill's stage.
func (h *bills) value(x *edge.Context) error {
	f, field := h.form(x)
	if err := f.Done(x); err != nil {
		return err
	}
	v, err := h.service.Value(x.Request.Context(), field)
	return x.Respond("CustomFieldValue", billDocument(x, f)(v), err)
}

// values returns all custom fields of a bill's stage in the display order of the
// ERP. A field without a stored value has no Contents.
func (h *bills) values(x *edge.Context) error {
	f, field := h.form(x)
	if err := f.Done(x); err != nil {
		return err
	}
	values, err := h.service.Values(x.Request.Context(), field.BillID, field.StageID)
	return edge.List(x, "CustomFieldValues", values, err, billDocument(x, f))
}

// fullValue is a value with its null members included.
type fullValue struct {
	SettingID   string
	SettingName *string
	Contents    *string
	PluginID    *string
	PluginName  *string
}

// billDocument returns the conversion of values to documents. Tabular formats have
// all columns even if members are null.
func billDocument(x *edge.Context, f *form.Form) func(wire.CustomFieldValue) any {
	isTabular := x.Format.Attachment || x.Format.Name == "html"
	withNulls := isTabular || strings.EqualFold(f.Members.Text(query.Nulls), "include")
	return func(v wire.CustomFieldValue) any {
		if withNulls {
			return fullValue(v)
		}
		return v
	}
}
