package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// subscriptionColumn is a column of the subscription table s or the subscriber
// table b. pointer returns a pointer to its value.
type subscriptionColumn struct {
	name    string
	pointer func(*webhook.Subscription) any
}

// subscriptionAdded are the columns of an INSERT, which also assigns the ID.
var subscriptionAdded = []subscriptionColumn{
	{"RecID", func(s *webhook.Subscription) any { return &s.GUID }},
	{"EventName", func(s *webhook.Subscription) any { return &s.Pattern }},
	{"URL", func(s *webhook.Subscription) any { return &s.URL }},
	{"IsEnabled", func(s *webhook.Subscription) any { return &s.Enabled }},
	{"Ordered", func(s *webhook.Subscription) any { return &s.Order.All }},
	{"OrderedByKey", func(s *webhook.Subscription) any { return (*optionalBool)(&s.Order.ByKey) }},
	{"RetrySchedule", func(s *webhook.Subscription) any { return (*schedule)(&s.Schedule) }},
	{"MaxPerMinute", func(s *webhook.Subscription) any { return (*optionalInt)(&s.MaxPerMinute) }},
	{"Format", func(s *webhook.Subscription) any { return (*optional)(&s.Format) }},
	{"Secret", func(s *webhook.Subscription) any { return &s.Secret }},
	{"MadeByAdmin", func(s *webhook.Subscription) any { return &s.MadeByAdmin }},
	{"Owner", func(s *webhook.Subscription) any { return (*optional)(&s.Owner.Name) }},
	{"Condition", func(s *webhook.Subscription) any { return (*optional)(&s.Where.Text) }},
	{"LastSavedDateTime", func(s *webhook.Subscription) any { return &s.SavedAt }},
	{"RowHash", func(s *webhook.Subscription) any { return &s.RowHash }},
}

// subscriptionRead are further columns that are read.
var subscriptionRead = []subscriptionColumn{
	{"s.ID", func(s *webhook.Subscription) any { return &s.ID }},
	{"s.ItemNo", func(s *webhook.Subscription) any { return &s.ItemNo }},
	{"s.DisabledReason", func(s *webhook.Subscription) any { return (*optional)(&s.DisabledReason) }},
	{"s.FailingSince", func(s *webhook.Subscription) any { return &s.FailingSince }},
	{"s.MovedDateTime", func(s *webhook.Subscription) any { return &s.MovedAt }},
	{"s.OldSecret", func(s *webhook.Subscription) any { return (*optional)(&s.Replaced.Secret) }},
	{"s.OldSecretUntil", func(s *webhook.Subscription) any { return &s.Replaced.Until }},
	{"s.EarlierSecrets", func(s *webhook.Subscription) any { return (*earlierSecrets)(&s.Earlier) }},
	{"b.RecID", func(s *webhook.Subscription) any { return &s.Subscriber }},
	{"b.Name", func(s *webhook.Subscription) any { return &s.SubscriberInfo.Name }},
	{"b.IsEnabled", func(s *webhook.Subscription) any { return &s.SubscriberInfo.Enabled }},
}

// byNumber is the order of the subscriptions of one subscriber, in lists and pages of them.
const byNumber = ` ORDER BY s.ItemNo, s.ID`

// subscriptions returns the subscriptions that meet a condition, with their headers, in
// the order that follows the condition and ends with s.ID. One statement reads both, so
// that headers always match the URL they were set for.
func (t tables) subscriptions(ctx context.Context, ordered string, args ...any) ([]webhook.Subscription, error) {
	columns := subscriptionColumns()
	var list strings.Builder
	for _, c := range columns {
		list.WriteString(c.name + ", ")
	}

	var subscriptions []webhook.Subscription
	err := t.db.Query(ctx, func(rows *sql.Rows) error {
		subscriptions = nil // of a query that is repeated
		for rows.Next() {
			s, header, err := scanSubscription(rows, columns)
			if err != nil {
				return err
			}
			n := len(subscriptions)
			if n == 0 || subscriptions[n-1].ID != s.ID {
				subscriptions = append(subscriptions, s)
			}
			if header != nil {
				last := &subscriptions[len(subscriptions)-1]
				last.Headers = append(last.Headers, *header)
			}
		}
		return nil
	}, `SELECT `+list.String()+`h.Name, h.Value, h.RecID
FROM whd.SY_WebhookSubscription s JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
LEFT JOIN whd.SY_WebhookSubscriptionRequestHeader h ON h.SubscriptionID = s.ID`+ordered+`, h.ItemNo`, args...)
	return subscriptions, err
}

// subscriptionColumns returns all columns that are read.
func subscriptionColumns() []subscriptionColumn {
	var columns []subscriptionColumn
	for _, c := range subscriptionAdded {
		columns = append(columns, subscriptionColumn{name: "s." + c.name, pointer: c.pointer})
	}
	return append(columns, subscriptionRead...)
}

// scanSubscription scans a row of columns, and of a header, which is nil if the subscription has
// none.
func scanSubscription(
	rows *sql.Rows, columns []subscriptionColumn,
) (webhook.Subscription, *webhook.Header, error) {
	var s webhook.Subscription
	fields := make([]any, 0, len(columns)+3)
	for _, c := range columns {
		fields = append(fields, destination(c.pointer(&s)))
	}
	var name, value, id sql.NullString
	err := rows.Scan(append(fields, &name, &value, &id)...)
	if err != nil || !name.Valid {
		return s, nil, err
	}
	return s, &webhook.Header{Name: name.String, Value: value.String, ID: id.String}, nil
}

// schedule is a retry schedule, stored as "5s,30s,2m0s"; NULL means the default of
// the settings.
type schedule []time.Duration

func (s schedule) stored() sql.NullString {
	return sql.NullString{String: webhook.FormatSchedule(s), Valid: s != nil}
}

func (s *schedule) Scan(value any) error {
	var text sql.NullString
	err := text.Scan(value)
	*s = nil
	if err != nil || !text.Valid {
		return err
	}
	*s = schedule{} // an empty text means no retries
	for part := range strings.SplitSeq(text.String, ",") {
		if part == "" {
			continue
		}
		d, err := time.ParseDuration(part)
		if err != nil {
			return fmt.Errorf("stored retry schedule: %w", err)
		}
		*s = append(*s, d)
	}
	return nil
}

// retries returns the number of retries.
func (s schedule) retries() sql.NullInt64 {
	return sql.NullInt64{Int64: int64(len(s)), Valid: s != nil}
}

// earlierSecrets are replaced secrets, stored as "2026-03-01T12:00:00Z whsec_...,..."; NULL for
// none.
type earlierSecrets []webhook.ReplacedSecret

func (e earlierSecrets) stored() sql.NullString {
	parts := make([]string, len(e))
	for i, r := range e {
		parts[i] = r.Until.UTC().Format(time.RFC3339Nano) + " " + r.Secret
	}
	return sql.NullString{String: strings.Join(parts, ","), Valid: len(e) > 0}
}

func (e *earlierSecrets) Scan(value any) error {
	var text sql.NullString
	err := text.Scan(value)
	*e = nil
	if err != nil || text.String == "" {
		return err
	}
	for part := range strings.SplitSeq(text.String, ",") {
		until, secret, _ := strings.Cut(part, " ")
		t, err := time.Parse(time.RFC3339Nano, until)
		if err != nil {
			return fmt.Errorf("stored secrets: %w", err)
		}
		*e = append(*e, webhook.ReplacedSecret{Secret: secret, Until: t})
	}
	return nil
}

// optionalBool is a bool that is NULL if it was never set.
type optionalBool bool

func (f *optionalBool) Scan(value any) error {
	var set sql.NullBool
	err := set.Scan(value)
	*f = optionalBool(set.Bool)
	return err
}

// optionalInt is a number that is stored as NULL if it is 0.
type optionalInt int

func (i optionalInt) stored() sql.NullInt64 {
	return sql.NullInt64{Int64: int64(i), Valid: i != 0}
}

func (i *optionalInt) Scan(value any) error {
	var n sql.NullInt64
	err := n.Scan(value)
	*i = optionalInt(n.Int64)
	return err
}

// optional is a text that is stored as NULL if it is empty.
type optional string

func (o optional) stored() sql.NullString {
	return sql.NullString{String: string(o), Valid: o != ""}
}

func (o *optional) Scan(value any) error {
	var text sql.NullString
	err := text.Scan(value)
	*o = optional(text.String)
	return err
}
