package rest

import (
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// The members that say when messages were added, beside the filters of every
// query.
const (
	memberSince = "Since" // and later
	memberUntil = "Until" // and earlier, but not at that time
)

// periodMembers are Since and Until for documents.
var periodMembers = []metadata.Member{
	{Name: memberSince, Type: "DateTime", Help: "messages that were added then or later"},
	{Name: memberUntil, Type: "DateTime", Help: "messages that were added before"},
}

// withoutPeriod takes Since and Until out of the members of a query of messages, and
// makes conditions of them.
func withoutPeriod(x *edge.Context, members query.Members) (query.Members, []query.Condition, error) {
	if x.Kind.Name != messageKind {
		return members, nil, nil
	}
	var others query.Members
	for _, m := range members {
		if !strings.EqualFold(m.Name, memberSince) && !strings.EqualFold(m.Name, memberUntil) {
			others = append(others, m)
		}
	}
	where, wrong := periodOf(x.Kind, members)
	if len(wrong) > 0 {
		return nil, nil, &fault.Error{Kind: fault.Invalid, Message: wrong[0].Name + " " + wrong[0].Message, Fields: wrong}
	}
	return others, where, nil
}

func periodOf(kind *record.Kind, members query.Members) (where []query.Condition, wrong []fault.Field) {
	for _, end := range []struct {
		member   string
		operator record.Operator
	}{{memberSince, record.GreaterThanOrEqualTo}, {memberUntil, record.LessThan}} {
		m, given := members.Get(end.member)
		if !given || m.Empty {
			continue
		}
		text, err := oneText(m)
		if err == nil {
			text, err = wire.ParseDate(text, time.UTC)
		}
		if err != nil {
			wrong = append(wrong, fault.Field{Name: end.member, Message: err.Error()})
			continue
		}
		where = append(where, condition(kind, "AddedDateTime", end.operator, wire.Value{Text: text}))
	}
	return where, wrong
}
