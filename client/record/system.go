package record

import "sync"

// SystemKinds returns the kinds of the service's own data. They are queried like those of
// Kinds, but most have their own routes.
func SystemKinds() []Kind {
	return []Kind{
		{Name: "RequestLog", Area: "Administration", Summary: "Requests handled by the service",
			Database: LogDB, Table: "WH_RequestLog", OperationName: "QueryRequestLogsGETManyRequest", NewestFirst: true, Fields: []Field{
				{"Id", Long, OrderedFilter, NotNull},
				{"DateTime", DateTime, OrderedFilter, NotNull},
				{"StatusCode", Int, OrderedFilter, NotNull},
				{"StatusDescription", Text, TextFilter, Nullable},
				{"HttpMethod", Text, TextFilter, Nullable},
				{"AbsoluteUri", Text, TextFilter, Nullable},
				{"PathInfo", Text, TextFilter, Nullable},
				{"RequestBody", Text, TextFilter, Nullable},
				{"RequestDto", Object, TextFilter, Nullable},
				{"UserAuthId", Text, TextFilter, Nullable},
				{"SessionId", Text, TextFilter, Nullable},
				{"IpAddress", Text, TextFilter, Nullable},
				{"ForwardedFor", Text, TextFilter, Nullable},
				{"Referer", Text, TextFilter, Nullable},
				{"Headers", Dictionary, TextFilter, Nullable},
				{"FormData", Dictionary, TextFilter, Nullable},
				{"Items", Dictionary, TextFilter, Nullable},
				{"Session", Object, TextFilter, Nullable},
				{"ResponseDto", Object, TextFilter, Nullable},
				{"ErrorResponse", Object, TextFilter, Nullable},
				{"ExceptionSource", Text, TextFilter, Nullable},
				{"ExceptionData", Dictionary, TextFilter, Nullable},
				{"RequestDuration", TimeSpan, OrderedFilter, NotNull},
			}},
		{Name: "WH_Audit", Area: "Administration", Summary: "Changes of users, API keys, settings and subscribers: who made them, when and how",
			Database: AppDB, NewestFirst: true, Fields: []Field{
				{"EntryNo", Long, OrderedFilter, NotNull},
				{"AddedDateTime", DateTime, OrderedFilter, NotNull},
				{"UserName", Text, TextFilter, NotNull},
				{"Via", Text, TextFilter, NotNull},
				{"Address", Text, TextFilter, NotNull},
				{"Action", Text, TextFilter, NotNull},
				{"Subject", Text, TextFilter, NotNull},
				{"Detail", Text, TextFilter, NotNull},
			}},
		{Name: "Message", Area: "Webhooks", Summary: "Webhook messages: events for a subscription, with their delivery status",
			Database: AppDB, Table: "WH_MessageView", NewestFirst: true, Key: "ItemNo", Fields: []Field{
				{"SubscriberID", Text, TextFilter, NotNull},
				{"SubscriptionID", Text, TextFilter, NotNull},
				{"MessageID", Text, TextFilter, NotNull},
				{"EventName", Text, TextFilter, NotNull},
				{"URL", Text, TextFilter, NotNull},
				{"Body", Text, TextFilter, NotNull},
				{"ItemNo", Long, OrderedFilter, NotNull},
				{"Status", Int, OrderedFilter, NotNull},
				{"Retries", Int, OrderedFilter, NotNull},
				{"AddedDateTime", Epoch, OrderedFilter, NotNull},
				{"LastSavedDateTime", Epoch, OrderedFilter, NotNull},
				{"LastMessageResponseHTTPCode", Int, OrderedFilter, Nullable},
				{"LastMessageResponseMessage", Text, TextFilter, Nullable},
				{"NextAttemptDateTime", Epoch, OrderedFilter, Nullable},
				{"MaxRetries", Int, OrderedFilter, NotNull},
			}},
		{Name: "MessageResponse", Area: "Webhooks", Summary: "Delivery attempts of webhook messages, with the responses",
			Database: AppDB, Table: "WH_MessageResponseView", NewestFirst: true, Key: "MessageItemNo", Fields: attemptFields()},
		{Name: "Attempt", Area: "Webhooks", Summary: "Delivery attempts of webhook messages of all subscribers, with the text of the responses",
			Database: AppDB, Table: "WH_MessageResponseView", NewestFirst: true, Key: "MessageItemNo", Fields: append(attemptFields(),
				Field{"Detail", Text, TextFilter, Nullable}, Field{"AnswerText", Text, TextFilter, Nullable})},
		{Name: "Subscriber", Area: "Webhooks", Summary: "Webhook subscribers",
			Database: AppDB, Table: "SY_WebhookSubscriber", Key: "ItemNo", Fields: []Field{
				{"RecID", Text, TextFilter, NotNull},
				{"Name", Text, TextFilter, NotNull},
				{"IsEnabled", Bool, EqualFilter, NotNull},
				{"ItemNo", Int, OrderedFilter, NotNull},
				{"LastSavedDateTime", Epoch, OrderedFilter, NotNull},
				{"RowHash", Bytes, EqualFilter, NotNull},
			}},
		{Name: "Subscription", Area: "Webhooks", Summary: "Webhook subscriptions of all subscribers",
			Database: AppDB, Table: "WH_SubscriptionView", Fields: []Field{
				{"RecID", Text, TextFilter, NotNull},
				{"SY_WebhookSubscriber_RecID", Text, TextFilter, NotNull},
				{"EventName", Text, TextFilter, NotNull},
				{"URL", Text, TextFilter, NotNull},
				{"ItemNo", Int, OrderedFilter, NotNull},
				{"LastSavedDateTime", Epoch, OrderedFilter, NotNull},
				{"RowHash", Bytes, EqualFilter, NotNull},
				{"IsEnabled", Bool, EqualFilter, NotNull},
				{"DisabledReason", Text, TextFilter, Nullable},
				{"Ordered", Bool, EqualFilter, NotNull},
				{"RetrySchedule", Text, TextFilter, Nullable},
			}},
	}
}

// attemptFields returns the fields of an attempt that any caller with the SubscriberID
// can read.
func attemptFields() []Field {
	return []Field{
		{"SubscriberID", Text, TextFilter, NotNull},
		{"SubscriptionID", Text, TextFilter, NotNull},
		{"MessageID", Text, TextFilter, NotNull},
		{"MessageResponseID", Text, TextFilter, NotNull},
		{"EventName", Text, TextFilter, NotNull},
		{"URL", Text, TextFilter, NotNull},
		{"Body", Text, TextFilter, NotNull},
		{"MessageItemNo", Long, OrderedFilter, NotNull},
		{"Status", Int, OrderedFilter, NotNull},
		{"Retries", Int, OrderedFilter, NotNull},
		{"AddedDateTime", Epoch, OrderedFilter, NotNull},
		{"MessageLastSavedDateTime", Epoch, OrderedFilter, NotNull},
		{"HTTPCode", Int, OrderedFilter, Nullable},
		{"Message", Text, TextFilter, NotNull},
		{"ItemNo", Int, OrderedFilter, NotNull},
		{"LastSavedDateTime", Epoch, OrderedFilter, NotNull},
		{"Duration", TimeSpan, OrderedFilter, NotNull},
	}
}

// System returns the registry of SystemKinds. It is separate from Builtin, because demo
// data and the compatibility check do not include these kinds.
func System() *Registry { return system() }

var system = sync.OnceValue(func() *Registry { return mustRegistry(SystemKinds()) })
