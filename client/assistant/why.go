package assistant

import (
	"context"
	"time"

	"github.com/bizhook/whd/client/wire"
)

type history struct {
	Steps    []step `json:"steps"`
	More     bool   `json:"more,omitempty"` // there are older steps, which no call returns
	NextSkip int    `json:"nextSkip,omitempty"`
}

// step is a wire.WhyStep without its text, which has addresses and responses of endpoints, and
// the values of conditions.
type step struct {
	At             time.Time `json:"at,omitzero"`
	Step           string    `json:"step"`
	Code           int       `json:"code,omitempty"`
	Due            time.Time `json:"due,omitzero"`
	Kind           string    `json:"kind,omitempty"`
	ChangeID       int64     `json:"changeID,omitempty"`
	Event          string    `json:"event,omitempty"`
	EventID        string    `json:"eventID,omitempty"`
	SubscriberID   string    `json:"subscriberID,omitempty"`
	SubscriptionID string    `json:"subscriptionID,omitempty"`
	MessageID      string    `json:"messageID,omitempty"`
}

// why is the tool why.
func why(ctx context.Context, source Source, in struct {
	Key  string
	Skip count
}) (any, error) {
	found, err := source.Why(ctx, in.Key)
	if err != nil {
		return nil, explained(err, nil)
	}
	result := history{Steps: []step{}, More: found.More}
	skip := min(int(in.Skip), len(found.Steps))
	for i, s := range found.Steps[skip:] {
		result.Steps = append(result.Steps, newStep(s))
		result.NextSkip = skip + i // the start of the next page, if this step does not fit
		if i > 0 && !fits(result) {
			result.Steps = result.Steps[:i]
			return result, nil
		}
	}
	result.NextSkip = 0
	return result, nil
}

func newStep(s wire.WhyStep) step {
	return step{
		At:             utc(s.At),
		Step:           s.Step,
		Code:           s.Code,
		Due:            utc(s.Due),
		Kind:           s.Kind,
		ChangeID:       s.ChangeID,
		Event:          s.EventName,
		EventID:        s.EventID,
		SubscriberID:   s.SubscriberID,
		SubscriptionID: s.SubscriptionID,
		MessageID:      s.MessageID,
	}
}

func utc(t wire.Timestamp) time.Time { return time.Time(t).UTC() }
