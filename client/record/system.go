package record

import "sync"

// SystemKinds returns the kinds of the service's own data. They are queried like Kinds, but most
// have their own routes.
func SystemKinds() []Kind {
	return []Kind{
		{
			Name:          "RequestLog",
			Area:          "Administration",
			Summary:       "Requests handled by the service",
			Database:      LogDB,
			Table:         "WH_RequestLog",
			OperationName: "QueryRequestLogsGETManyRequest",
			NewestFirst:   true,
			Key:           []string{"Id"},
			Fields: []Field{
				field("Id", Long, NotNull),
				field("DateTime", DateTime, NotNull),
				field("StatusCode", Int, NotNull),
				field("StatusDescription", Text, Nullable),
				field("HttpMethod", Text, Nullable),
				field("AbsoluteUri", Text, Nullable),
				field("PathInfo", Text, Nullable),
				field("RequestBody", Text, Nullable),
				field("RequestDto", Object, Nullable),
				field("UserAuthId", Text, Nullable),
				field("SessionId", Text, Nullable),
				field("IpAddress", Text, Nullable),
				field("ForwardedFor", Text, Nullable),
				field("Referer", Text, Nullable),
				field("Headers", Dictionary, Nullable),
				field("FormData", Dictionary, Nullable),
				field("Items", Dictionary, Nullable),
				field("Session", Object, Nullable),
				field("ResponseDto", Object, Nullable),
				field("ErrorResponse", Object, Nullable),
				field("ExceptionSource", Text, Nullable),
				field("ExceptionData", Dictionary, Nullable),
				field("RequestDuration", TimeSpan, NotNull),
			},
		},
		{
			Name:        "WH_Audit",
			Area:        "Administration",
			Summary:     "Changes of users, API keys, settings and subscribers: who made them, when and how",
			Database:    AppDB,
			NewestFirst: true,
			Fields: []Field{
				field("EntryNo", Long, NotNull),
				field("AddedDateTime", DateTime, NotNull),
				field("UserName", Text, NotNull),
				field("Via", Text, NotNull),
				field("Address", Text, NotNull),
				field("Action", Text, NotNull),
				field("Subject", Text, NotNull),
				field("Detail", Text, NotNull),
			},
		},
		{
			Name:        "Message",
			Area:        "Webhooks",
			Summary:     "Webhook messages: events for a subscription, with their delivery status",
			Database:    AppDB,
			Table:       "WH_MessageView",
			NewestFirst: true,
			OrderField:  "ItemNo",
			Key:         []string{"ItemNo"},
			Fields: []Field{
				field("SubscriberID", Text, NotNull),
				field("SubscriptionID", Text, NotNull),
				field("MessageID", Text, NotNull),
				field("EventName", Text, NotNull),
				field("URL", Text, NotNull),
				field("Body", Text, NotNull),
				field("ItemNo", Long, NotNull),
				field("Status", Int, NotNull),
				field("Retries", Int, NotNull),
				field("AddedDateTime", Epoch, NotNull),
				field("LastSavedDateTime", Epoch, NotNull),
				field("LastMessageResponseHTTPCode", Int, Nullable),
				field("LastMessageResponseMessage", Text, Nullable),
				field("NextAttemptDateTime", Epoch, Nullable),
				field("MaxRetries", Int, NotNull),
				{Name: "Key", Type: Text, Filter: Text.Filter(), Null: Nullable, Column: "EventKey"},
			},
		},
		{
			Name:        "MessageResponse",
			Area:        "Webhooks",
			Summary:     "Delivery attempts of webhook messages, with the responses",
			Database:    AppDB,
			Table:       "WH_MessageResponseView",
			NewestFirst: true,
			OrderField:  "MessageItemNo",
			Key:         attemptKey(),
			Fields:      attemptFields(),
		},
		{
			Name:        "Attempt",
			Area:        "Webhooks",
			Summary:     "Delivery attempts of webhook messages of all subscribers, with the text of the responses",
			Database:    AppDB,
			Table:       "WH_MessageResponseView",
			NewestFirst: true,
			OrderField:  "MessageItemNo",
			Key:         attemptKey(),
			Fields: append(attemptFields(),
				field("Detail", Text, Nullable),
				field("AnswerText", Text, Nullable),
			),
		},
		{
			Name:       "Subscriber",
			Area:       "Webhooks",
			Summary:    "Webhook subscribers",
			Database:   AppDB,
			Table:      "SY_WebhookSubscriber",
			OrderField: "ItemNo",
			Fields: []Field{
				field("RecID", Text, NotNull),
				field("Name", Text, NotNull),
				field("IsEnabled", Bool, NotNull),
				field("ItemNo", Int, NotNull),
				field("LastSavedDateTime", Epoch, NotNull),
				field("RowHash", Bytes, NotNull),
			},
		},
		{
			Name:     "Subscription",
			Area:     "Webhooks",
			Summary:  "Webhook subscriptions of all subscribers",
			Database: AppDB,
			Table:    "WH_SubscriptionView",
			Fields: []Field{
				field("RecID", Text, NotNull),
				field("SY_WebhookSubscriber_RecID", Text, NotNull),
				field("EventName", Text, NotNull),
				field("URL", Text, NotNull),
				field("ItemNo", Int, NotNull),
				field("LastSavedDateTime", Epoch, NotNull),
				field("RowHash", Bytes, NotNull),
				field("IsEnabled", Bool, NotNull),
				field("DisabledReason", Text, Nullable),
				field("Ordered", Bool, NotNull),
				field("RetrySchedule", Text, Nullable),
				field("OrderedByKey", Bool, NotNull),
				field("MaxPerMinute", Int, Nullable),
				{Name: "Where", Type: Object, Filter: TextFilter, Null: Nullable, Column: "Condition"},
			},
		},
	}
}

// attemptFields returns the fields of an attempt that any caller with the SubscriberID
// can read.
func attemptFields() []Field {
	return []Field{
		field("SubscriberID", Text, NotNull),
		field("SubscriptionID", Text, NotNull),
		field("MessageID", Text, NotNull),
		field("MessageResponseID", Text, NotNull),
		field("EventName", Text, NotNull),
		field("URL", Text, NotNull),
		field("Body", Text, NotNull),
		field("MessageItemNo", Long, NotNull),
		field("Status", Int, NotNull),
		field("Retries", Int, NotNull),
		field("AddedDateTime", Epoch, NotNull),
		field("MessageLastSavedDateTime", Epoch, NotNull),
		field("HTTPCode", Int, Nullable),
		field("Message", Text, NotNull),
		field("ItemNo", Int, NotNull),
		field("LastSavedDateTime", Epoch, NotNull),
		field("Duration", TimeSpan, NotNull),
	}
}

// attemptKey returns the key of attempts: the message, and the number of the attempt.
func attemptKey() []string { return []string{"MessageItemNo", "ItemNo"} }

// System returns the registry of SystemKinds. It is separate from Builtin, because demo
// data and the compatibility check do not include these kinds.
func System() *Registry { return system() }

var system = sync.OnceValue(func() *Registry { return mustRegistry(SystemKinds()) })
