package record

import "sync"

// SystemKinds lists the kinds that the service itself keeps, one line per field.
// They are queried like those of Kinds, by routes of their own.
func SystemKinds() []Kind {
	return []Kind{
		{Name: "RequestLog", Area: "Administration", Summary: "Requests that the service has answered",
			Database: InLog, Table: "WH_RequestLog", OperationName: "QueryRequestLogsGETManyRequest", NewestFirst: true, Fields: []Field{
				{"Id", Long, N, NotNull},
				{"DateTime", DateTime, N, NotNull},
				{"StatusCode", Int, N, NotNull},
				{"StatusDescription", Text, S, Nullable},
				{"HttpMethod", Text, S, Nullable},
				{"AbsoluteUri", Text, S, Nullable},
				{"PathInfo", Text, S, Nullable},
				{"RequestBody", Text, S, Nullable},
				{"RequestDto", Object, S, Nullable},
				{"UserAuthId", Text, S, Nullable},
				{"SessionId", Text, S, Nullable},
				{"IpAddress", Text, S, Nullable},
				{"ForwardedFor", Text, S, Nullable},
				{"Referer", Text, S, Nullable},
				{"Headers", Dictionary, S, Nullable},
				{"FormData", Dictionary, S, Nullable},
				{"Items", Dictionary, S, Nullable},
				{"Session", Object, S, Nullable},
				{"ResponseDto", Object, S, Nullable},
				{"ErrorResponse", Object, S, Nullable},
				{"ExceptionSource", Text, S, Nullable},
				{"ExceptionData", Dictionary, S, Nullable},
				{"RequestDuration", TimeSpan, N, NotNull},
			}},
		{Name: "WH_Audit", Area: "Administration", Summary: "Changes of users, API keys, settings and subscribers: who made them, when and how",
			Database: InOwn, NewestFirst: true, Fields: []Field{
				{"EntryNo", Long, N, NotNull},
				{"AddedDateTime", DateTime, N, NotNull},
				{"UserName", Text, S, NotNull},
				{"Via", Text, S, NotNull},
				{"Address", Text, S, NotNull},
				{"Action", Text, S, NotNull},
				{"Subject", Text, S, NotNull},
				{"Detail", Text, S, NotNull},
			}},
		{Name: "Message", Area: "Webhooks", Summary: "Messages of webhooks: events on their way to a subscription",
			Database: InOwn, Table: "WH_MessageView", NewestFirst: true, Fields: []Field{
				{"ItemNo", Long, N, NotNull},
				{"SubscriberID", Text, S, NotNull},
				{"SubscriptionID", Text, S, NotNull},
				{"MessageID", Text, S, NotNull},
				{"EventName", Text, S, NotNull},
				{"URL", Text, S, NotNull},
				{"Body", Text, S, NotNull},
				{"Status", Int, N, NotNull},
				{"Retries", Int, N, NotNull},
				{"AddedDateTime", Epoch, N, NotNull},
				{"LastSavedDateTime", Epoch, N, NotNull},
				{"LastMessageResponseHTTPCode", Int, N, Nullable},
				{"LastMessageResponseMessage", Text, S, Nullable},
				{"NextAttemptDateTime", Epoch, N, Nullable},
				{"MaxRetries", Int, N, NotNull},
			}},
		{Name: "MessageResponse", Area: "Webhooks", Summary: "Attempts to send messages of webhooks, and what was answered",
			Database: InOwn, Table: "WH_MessageResponseView", NewestFirst: true, Fields: attemptFields()},
		{Name: "Attempt", Area: "Webhooks", Summary: "Attempts to send messages of webhooks, of all subscribers, with the text of answers",
			Database: InOwn, Table: "WH_MessageResponseView", NewestFirst: true, Fields: append(attemptFields(),
				Field{"Detail", Text, S, Nullable}, Field{"AnswerText", Text, S, Nullable})},
		{Name: "Subscriber", Area: "Webhooks", Summary: "Subscribers of webhooks",
			Database: InOwn, Table: "SY_WebhookSubscriber", Fields: []Field{
				{"ItemNo", Int, N, NotNull},
				{"RecID", Text, S, NotNull},
				{"Name", Text, S, NotNull},
				{"IsEnabled", Bool, E, NotNull},
				{"LastSavedDateTime", Epoch, N, NotNull},
				{"RowHash", Bytes, E, NotNull},
			}},
		{Name: "Subscription", Area: "Webhooks", Summary: "Subscriptions of webhooks, of all subscribers",
			Database: InOwn, Table: "WH_SubscriptionView", Fields: []Field{
				{"RecID", Text, S, NotNull},
				{"SY_WebhookSubscriber_RecID", Text, S, NotNull},
				{"EventName", Text, S, NotNull},
				{"URL", Text, S, NotNull},
				{"ItemNo", Int, N, NotNull},
				{"LastSavedDateTime", Epoch, N, NotNull},
				{"RowHash", Bytes, E, NotNull},
				{"IsEnabled", Bool, E, NotNull},
				{"DisabledReason", Text, S, Nullable},
				{"Ordered", Bool, E, NotNull},
				{"RetrySchedule", Text, S, Nullable},
			}},
	}
}

// attemptFields are those of an attempt that everybody may see who has its
// SubscriberID.
func attemptFields() []Field {
	return []Field{
		{"MessageItemNo", Long, N, NotNull},
		{"SubscriberID", Text, S, NotNull},
		{"SubscriptionID", Text, S, NotNull},
		{"MessageID", Text, S, NotNull},
		{"MessageResponseID", Text, S, NotNull},
		{"EventName", Text, S, NotNull},
		{"URL", Text, S, NotNull},
		{"Body", Text, S, NotNull},
		{"Status", Int, N, NotNull},
		{"Retries", Int, N, NotNull},
		{"AddedDateTime", Epoch, N, NotNull},
		{"MessageLastSavedDateTime", Epoch, N, NotNull},
		{"HTTPCode", Int, N, Nullable},
		{"Message", Text, S, NotNull},
		{"ItemNo", Int, N, NotNull},
		{"LastSavedDateTime", Epoch, N, NotNull},
		{"Duration", TimeSpan, N, NotNull},
	}
}

// System is the registry of the kinds that the service itself keeps. They are
// apart from the others: no demo fills them and no check looks for them.
func System() *Registry { return system() }

var system = sync.OnceValue(func() *Registry { return mustRegistry(SystemKinds()) })
