package webhooks

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// headersOf reads the member Headers, or RequestHeaders, as other generations of clients
// call it. It returns nil if none is given. An empty list removes all headers.
func headersOf(f *form.Form) *[]webhook.Header {
	var list *[]webhook.Header
	for _, name := range []string{webhook.MemberHeaders, webhook.MemberRequestHeaders} {
		f.Knows(name)
		m, _ := f.Members.Get(name)
		text := cmp.Or(m.Raw, strings.Join(m.Texts, ","))
		if text == "" || text == "null" {
			continue
		}
		headers, err := parseHeaders(text)
		if err != nil {
			f.Refuse(name, err.Error())
		} else if list != nil {
			f.Refuse(name, "is another name for Headers; give only one of them")
		}
		list = &headers
	}
	return list
}

var errHeaders = errors.New(`must be a list of headers, such as [{"Name": "X-Token", "Value": "secret"}]`)

// parseHeaders parses a list of headers or a single one, as JSON or in the form that
// clients of the .NET service write into a query string: [{Name:X,Value:Y}]. IDs,
// which typed clients send, are ignored: the store assigns them.
func parseHeaders(text string) ([]webhook.Header, error) {
	objects, err := query.ReadObjects(text)
	if err != nil {
		return nil, errHeaders
	}
	var headers []webhook.Header
	for _, o := range objects {
		if slices.ContainsFunc(o, isNoHeaderMember) {
			return nil, errHeaders
		}
		headers = append(headers, webhook.Header{Name: o.Text("Name"), Value: o.Text("Value")})
	}
	return headers, nil
}

// isNoHeaderMember reports whether a member cannot be part of a header.
func isNoHeaderMember(m query.Member) bool {
	return m.List || m.Other || !form.HasName([]string{"Name", "Value", inHeader}, m.Name)
}

// ReplaceHeaders replaces the headers of a subscription. The response contains the values
// of the request, as clients of the .NET service expect; no other response does.
func (h *subscriptions) ReplaceHeaders(x *edge.Context) error {
	caller, err := h.limitChanges(x)
	if err != nil {
		return err
	}
	f := form.Read(x)
	f.Knows(InSubscriber, inSubscription)
	headers := headersOf(f)
	if headers == nil {
		f.Missing = append(f.Missing, fault.Field{
			Name:    webhook.MemberRequestHeaders,
			Message: "must be a list; [] removes all headers",
		})
	}
	if err := f.Done(x); err != nil {
		return err
	}
	change := admin.SubscriptionChange{Headers: headers}
	r, err := h.admin.ChangeSubscription(x.Request.Context(), x.Params.Get(InSubscriber),
		x.Params.Get(inSubscription), change, caller)
	if err != nil {
		return err
	}
	d := h.document(x, r)
	if webhook.SameHeaders(r.Headers, *headers) { // no other request has replaced them since
		for i, header := range *headers {
			d.Headers[i].Value = header.Value
		}
	}
	return edge.List(x, "RequestHeaders", d.Headers, nil, func(header wire.Header) wire.Header { return header })
}

// RemoveHeaders removes one header, or all if the path contains no ID.
func (h *subscriptions) RemoveHeaders(x *edge.Context) error {
	caller, err := h.limitChanges(x)
	if err != nil {
		return err
	}
	subscriber := x.Params.Get(InSubscriber)
	id := x.Params.Get(inSubscription)
	header := x.Params.Get(inHeader)
	if header != "" {
		return x.NoContent(h.admin.RemoveHeader(x.Request.Context(), subscriber, id, header, caller))
	}
	change := admin.SubscriptionChange{Headers: &[]webhook.Header{}}
	_, err = h.admin.ChangeSubscription(x.Request.Context(), subscriber, id, change, caller)
	return x.NoContent(err)
}
