package webhooks

import (
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// BodyMask returns the masks that hide the bodies of captured events from callers without the right to
// read the records, and those of events of the service from callers that are no admins, until an
// attempt has delivered them: the SubscriberID is no such right, and the receiver may never get a
// message that is held. service is nil if webhooks are disabled.
func BodyMask(service *admin.Service, access *accounts.Access) queries.Mask {
	return func(x *edge.Context) *query.Mask {
		body, hasBody := x.Kind.Column(MemberBody)
		if !hasBody || service == nil {
			return nil
		}
		rules := service.Rules()
		if !x.Identity.Known() {
			access.Identify(x)
		}

		var withheld []wire.Value
		mayRead := func(kind *record.Kind) bool { return queries.MayQuery(x, kind) }
		for _, name := range rules.WithheldFrom(mayRead) {
			withheld = append(withheld, wire.Value{Text: name})
		}
		if withheld == nil {
			return nil
		}
		event, _ := x.Kind.Column(MemberEvent)
		return &query.Mask{Field: body, Where: []query.Condition{
			{Field: event, Operator: record.In, Operands: withheld},
			queries.Condition(x.Kind, memberStatus, record.NotEqualTo, wire.Value{Int: int64(webhook.Successful)}),
		}}
	}
}
