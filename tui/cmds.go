package tui

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
)

// What changes something at the service is here, behind change and repeatable:
// they refuse it in a read-only session and repeat it after a sign-in. What a
// screen fetches is in the file of the screen. All of it returns commands, which
// run beside the screen and whose message is the answer.

// quick is how long requests may take that nobody waits for.
const quick = 10 * time.Second

// after is a message that comes later.
func (a *app) after(d time.Duration, m tea.Msg) tea.Cmd {
	return a.options.tick(d, m)
}

// errReadOnly is the answer to every change that is asked for while the session
// is read-only. It is decided here, beside the client's own refusal.
var errReadOnly = errors.New("read-only: nothing was sent (:rw lifts it)")

// change is a command that changes something at the service.
func (a *app) change(to screen, what string, ids []string, make func(ctx context.Context, c *client.Client) error) tea.Cmd {
	c, ctx := a.client, a.context
	if a.readOnly {
		return func() tea.Msg { return doneMsg{reply{to, errReadOnly}, what, ids} }
	}
	return a.repeatable(what, func() tea.Msg { return doneMsg{reply{to, notSent(make(ctx, c))}, what, ids} })
}

// notSent says so of a change that has not left this computer.
func notSent(err error) error {
	e, ok := errors.AsType[*client.Error](err)
	if ok && e.Kind == client.Unreachable && strings.HasPrefix(e.Message, "cannot reach") { // there was no connection at all
		return fmt.Errorf("not sent: %w", err)
	}
	return err
}

// listen begins to follow the service.
func (a *app) listen() tea.Cmd {
	if a.stopFeed != nil {
		a.stopFeed()
	}
	o := client.StreamOptions{Topics: []string{wire.TopicMessages, wire.TopicStats, wire.TopicRequests}}
	if a.feed != nil {
		o.LastEventID = a.feed.last()
	}
	ctx, stop := context.WithCancel(a.context)
	a.link.session++
	a.feed, a.stopFeed = newFeed(a.link.session, a.client.Stream(ctx, o)), stop
	return a.hear(ctx)
}

// hear waits for what happens next.
func (a *app) hear(ctx context.Context) tea.Cmd {
	f := a.feed
	a.hearing = ctx
	return a.options.hear(func() tea.Msg {
		if batch := f.next(ctx); batch != nil {
			return *batch
		}
		return nil
	})
}

// openProfile makes a client of another profile.
func (a *app) openProfile(name string) tea.Cmd {
	open, dir := a.options.Switch, a.options.State
	return func() tea.Msg {
		c, o, err := open(name)
		if err != nil {
			return switchedMsg{reply: reply{err: err}}
		}
		k, err := state.Open(dir, name)
		return switchedMsg{client: c, options: o, keeper: k, unkept: err}
	}
}

// whoAmI asks who we are to the service, and what it can do.
func (a *app) whoAmI() tea.Cmd {
	c, parent, era := a.client, a.context, a.era
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, quick)
		defer cancel()
		m := whoMsg{era: era}
		if m.info, m.err = c.Info(ctx); m.err != nil {
			m.info = nil
			return m
		}
		m.user, m.err = c.CurrentSession(ctx)
		return m
	}
}

// unlock asks for a client that may change things.
func (a *app) unlock() tea.Cmd {
	make, era, asked := a.options.Unlock, a.era, a.forbidden
	return func() tea.Msg {
		c, err := make()
		return unlockedMsg{reply{err: err}, c, era, asked}
	}
}

// signIn starts a session.
func (a *app) signIn(user, password string) tea.Cmd {
	c, ctx, era := a.client, a.context, a.era
	return func() tea.Msg {
		_, err := c.Login(ctx, user, password)
		return signedInMsg{reply: reply{err: err}, era: era, user: user}
	}
}

// listMost is how many subscribers, subscriptions and so on are shown.
const listMost = 2000

// laneStats fetches how deliveries to subscriptions stand.
func (a *app) laneStats(to screen) tea.Cmd {
	c, ctx := a.client, a.context
	return func() tea.Msg {
		stats, err := c.Stats(ctx, time.Hour)
		return lanesMsg{reply{to, err}, stats}
	}
}

// retryOne makes one message due now.
func (a *app) retryOne(to screen, m wire.Message) tea.Cmd {
	return a.change(to, "retry of "+m.EventName, []string{m.MessageID}, func(ctx context.Context, c *client.Client) error {
		_, err := c.RetryMessage(ctx, m.SubscriberID, m.SubscriptionID, m.MessageID)
		return err
	})
}

// removeOne deletes one message.
func (a *app) removeOne(to screen, m wire.Message) tea.Cmd {
	return a.change(to, "delete of "+m.EventName, []string{m.MessageID}, func(ctx context.Context, c *client.Client) error {
		return c.RemoveMessage(ctx, m.SubscriberID, m.SubscriptionID, m.MessageID)
	})
}

// weigh counts what would be done to messages, and looks where the newest go.
func (a *app) weigh(to screen, w *weighing) tea.Cmd {
	c, readOnly := a.client, a.readOnly
	ctx, cancel := context.WithCancel(a.context)
	w.cancel = cancel
	return a.repeatable(w.name(), func() tea.Msg {
		m := weighedMsg{reply: reply{to: to, err: errReadOnly}, of: w}
		if !readOnly {
			m.err = m.ask(ctx, c)
		}
		return m
	})
}

// ask counts at the service.
func (m *weighedMsg) ask(ctx context.Context, c *client.Client) (err error) {
	w := m.of
	if m.matched, m.done, err = w.would(ctx, c, w.members); err != nil {
		return err
	}
	if w.failed != nil {
		if _, m.failed, err = w.would(ctx, c, w.failed); err != nil {
			return err
		}
	}
	if !w.all {
		return nil // they are here
	}
	q := clone(w.members)
	if narrow := alsoStatus(q, 2, 3); w.what == keymap.Retry && narrow != nil {
		q = narrow
	}
	q.Del("All")
	q.Set("Take", strconv.Itoa(newestWeighed))
	q.Set("Fields", "MessageID,SubscriptionID,URL,Status,LastMessageResponseHTTPCode,LastMessageResponseMessage")
	page, err := c.AllMessages(ctx, q)
	if err == nil {
		m.newest = page.Results
	}
	return err
}

// would counts what would be done to messages.
func (w *weighing) would(ctx context.Context, c *client.Client, members url.Values) (matched, done int64, err error) {
	q := clone(members)
	q.Set("DryRun", "true")
	if w.what == keymap.Remove {
		r, err := c.DeleteMessages(ctx, q)
		if err != nil {
			return 0, 0, err
		}
		return r.Matched, r.Deleted, nil
	}
	r, err := c.RetryMessages(ctx, q)
	if err != nil {
		return 0, 0, err
	}
	return r.Matched, r.Retried, nil
}

// retryMany makes all messages due now that match.
func (a *app) retryMany(to screen, members url.Values, what string) tea.Cmd {
	return a.bulk(what, to, members, func(ctx context.Context, c *client.Client, m *retriedMsg, q url.Values) {
		m.retried, m.err = c.RetryMessages(ctx, q)
	})
}

// removeMany deletes all messages that match.
func (a *app) removeMany(to screen, members url.Values, what string) tea.Cmd {
	return a.bulk(what, to, members, func(ctx context.Context, c *client.Client, m *retriedMsg, q url.Values) {
		m.deleted, m.err = c.DeleteMessages(ctx, q)
	})
}

func (a *app) bulk(what string, to screen, members url.Values, do func(context.Context, *client.Client, *retriedMsg, url.Values)) tea.Cmd {
	c, ctx := a.client, a.context
	q, readOnly := clone(members), a.readOnly
	return a.repeatable(what, func() tea.Msg {
		m := retriedMsg{reply: reply{to: to}, what: what}
		if m.err = errReadOnly; !readOnly {
			do(ctx, c, &m, q)
			m.err = notSent(m.err)
		}
		return m
	})
}

// testSubscription sends a test message.
func (a *app) testSubscription(s wire.Subscription) tea.Cmd {
	c, ctx, readOnly := a.client, a.context, a.readOnly
	return a.repeatable("test of "+s.EventName, func() tea.Msg {
		if readOnly {
			return trialMsg{reply: reply{err: errReadOnly}, trial: trial{of: s}}
		}
		return sendTrial(ctx, c, &s)
	})
}

// sendTrial sends a test message, and finds out whether it goes out at all.
func sendTrial(ctx context.Context, c *client.Client, s *wire.Subscription) trialMsg {
	m := trialMsg{trial: trial{of: *s}}
	state, err := c.TestSubscription(ctx, s.SubscriberID, s.RecID)
	if m.err = err; err != nil {
		return m
	}
	m.trial.message = state.MessageID
	if list, err := c.Subscriptions(ctx, s.SubscriberID); err == nil {
		for _, one := range list {
			if one.RecID == s.RecID && !one.IsEnabled {
				m.off = "the subscription"
			}
		}
	}
	if who, err := c.Subscriber(ctx, s.SubscriberID); err == nil && !who.IsEnabled {
		m.off = "the subscriber"
	}
	return m
}

// outcome asks for the first attempt to send a message. That takes no more than
// the SubscriberID.
func (a *app) outcome(subscriber, id string) tea.Cmd {
	c, ctx := a.client, a.context
	return func() tea.Msg {
		m := outcomeMsg{id: id}
		tries, err := c.MessageResponses(ctx, subscriber, url.Values{"MessageID": {id}, "Fields": {"Status,HTTPCode,Message,Duration,LastSavedDateTime"}, "OrderBy": {"ItemNo"}, "Take": {"1"}})
		if m.err = err; err != nil || len(tries.Results) == 0 {
			return m
		}
		m.attempt = &tries.Results[0]
		page, err := c.Messages(ctx, subscriber, url.Values{"MessageID": {id}, "Fields": {"Status,NextAttemptDateTime"}, "Take": {"1"}})
		if err == nil && len(page.Results) > 0 {
			m.message = &page.Results[0]
		}
		return m
	}
}

// stake counts what goes with a subscriber, or with one subscription of it.
func (a *app) stake(to screen, of wire.Subscriber, one *wire.Subscription) tea.Cmd {
	c, ctx := a.client, a.context
	return func() tea.Msg {
		m := stakeMsg{reply: reply{to: to}, subscriber: of, subscription: one}
		members := url.Values{"SubscriberID": {of.RecID}, "Take": {"0"}, "Include": {"Total"}}
		if one != nil {
			members = url.Values{"SubscriptionID": {one.RecID}, "Take": {"0"}, "Include": {"Total"}}
		} else {
			list, err := c.Subscriptions(ctx, of.RecID)
			if m.err = err; err != nil {
				return m
			}
			m.subscriptions = len(list)
		}
		all, err := c.AllMessages(ctx, members)
		if m.err = err; err != nil {
			return m
		}
		members.Set("StatusIn", "0,2")
		open, err := c.AllMessages(ctx, members)
		if m.err = err; err == nil {
			m.messages, m.pending = int(all.Total), int(open.Total)
		}
		return m
	}
}

// askEventNames asks for the names of the events.
func (a *app) askEventNames() tea.Cmd {
	c, ctx, era := a.client, a.context, a.era
	return func() tea.Msg {
		list, err := c.Events(ctx)
		return eventNamesMsg{reply{err: err}, list, era}
	}
}

// enableSubscription enables or disables a subscription.
func (a *app) enableSubscription(to screen, s wire.Subscription, on bool) tea.Cmd {
	return a.change(to, onOff(on)+" "+s.EventName, []string{s.RecID}, func(ctx context.Context, c *client.Client) error {
		_, err := c.UpdateSubscription(ctx, s.SubscriberID, s.RecID, wire.SubscriptionRequest{IsEnabled: &on})
		return err
	})
}

// removeSubscription deletes a subscription.
func (a *app) removeSubscription(to screen, s wire.Subscription) tea.Cmd {
	return a.change(to, "delete of "+s.EventName, []string{s.RecID}, func(ctx context.Context, c *client.Client) error {
		return c.RemoveSubscription(ctx, s.SubscriberID, s.RecID)
	})
}

// enableSubscriber enables or disables a subscriber.
func (a *app) enableSubscriber(to screen, s wire.Subscriber, on bool) tea.Cmd {
	return a.change(to, onOff(on)+" "+s.Name, []string{s.RecID}, func(ctx context.Context, c *client.Client) error {
		_, err := c.UpdateSubscriber(ctx, s.RecID, wire.SubscriberRequest{IsEnabled: &on})
		return err
	})
}

// removeSubscriber deletes a subscriber.
func (a *app) removeSubscriber(to screen, s wire.Subscriber) tea.Cmd {
	return a.change(to, "delete of "+s.Name, []string{s.RecID}, func(ctx context.Context, c *client.Client) error {
		return c.RemoveSubscriber(ctx, s.RecID)
	})
}

// addSubscriber adds a subscriber.
func (a *app) addSubscriber(to screen, f *form, name string) tea.Cmd {
	return a.subscriber(to, f, "new subscriber "+name, func(ctx context.Context, c *client.Client) (*wire.Subscriber, error) {
		return c.AddSubscriber(ctx, wire.SubscriberRequest{Name: &name})
	})
}

// addSubscription adds a subscription, and sends it a test message where that is
// wanted.
func (a *app) addSubscription(to screen, subscriber string, request wire.SubscriptionRequest, try bool) tea.Cmd {
	c, ctx, readOnly := a.client, a.context, a.readOnly
	return a.repeatable("new subscription", func() tea.Msg {
		m := subscriptionMsg{reply: reply{to: to}}
		if m.err = errReadOnly; readOnly {
			return m
		}
		if m.subscription, m.err = c.AddSubscription(ctx, subscriber, request); m.err != nil || !try {
			return m
		}
		m.trial = new(sendTrial(ctx, c, m.subscription))
		return m
	})
}

// countViews counts the rows of views, one after the other.
func (a *app) countViews(ctx context.Context, to screen, views []state.View) tea.Cmd {
	c := a.client
	queries := make(map[string]client.Query)
	for _, v := range views {
		if q, ok := a.viewQuery(v); ok {
			queries[v.Name] = q
		}
	}
	return func() tea.Msg {
		m := viewsMsg{reply: reply{to: to}, counts: make(map[string]string)}
		for name, q := range queries {
			n, err := c.Count(ctx, q)
			if m.counts[name] = theme.Thousands(int(n)); err != nil {
				m.counts[name] = "?"
			}
		}
		return m
	}
}

// export writes rows to a file, in the background. The writing begins at once,
// so that whoever waits for it waits for all of it.
func (a *app) export(j *export.Job) tea.Cmd {
	c, ctx := a.client, a.context
	written := make(chan error, 1)
	a.jobs.writing.Go(func() { written <- j.Write(c, ctx) })
	return func() tea.Msg { return exportMsg{reply{err: <-written}, j} }
}

// billValue fetches what a custom field of a bill's stage holds.
func (a *app) billValue(field client.BillField) tea.Cmd {
	c, ctx, era := a.client, a.context, a.era
	return func() tea.Msg {
		value, err := c.BillValue(ctx, field)
		return billMsg{reply: reply{err: err}, era: era, field: field, value: value}
	}
}

// billValues fetches what all custom fields of a bill's stage hold.
func (a *app) billValues(stage client.BillStage) tea.Cmd {
	c, ctx, era := a.client, a.context, a.era
	return func() tea.Msg {
		values, err := c.BillValues(ctx, stage)
		return billFieldsMsg{reply: reply{err: err}, stage: stage, values: values, era: era}
	}
}

// setBillValue changes it.
func (a *app) setBillValue(field client.BillField, contents string) tea.Cmd {
	c, ctx, readOnly, era := a.client, a.context, a.readOnly, a.era
	return a.repeatable("change of "+field.SettingID, func() tea.Msg {
		m := billMsg{reply: reply{err: errReadOnly}, era: era, field: field, changed: true}
		if !readOnly {
			m.value, m.err = c.SetBillValue(ctx, field, contents)
		}
		return m
	})
}

// changeSubscription changes a subscription, and sends it a test message where
// that is wanted.
func (a *app) changeSubscription(to screen, f *form, s wire.Subscription, request wire.SubscriptionRequest, try bool) tea.Cmd {
	c, ctx, readOnly := a.client, a.context, a.readOnly
	what := "change of " + s.EventName
	return a.repeatable(what, func() tea.Msg {
		m := changedMsg{reply: reply{to, errReadOnly}, form: f, what: what}
		if readOnly {
			return m
		}
		if m.subscription, m.err = c.UpdateSubscription(ctx, s.SubscriberID, s.RecID, request); m.err != nil || !try {
			return m
		}
		m.trial = new(sendTrial(ctx, c, m.subscription))
		return m
	})
}

// changeSubscriber gives a subscriber another name.
func (a *app) changeSubscriber(to screen, f *form, s wire.Subscriber, name string) tea.Cmd {
	return a.subscriber(to, f, "change of "+s.Name, func(ctx context.Context, c *client.Client) (*wire.Subscriber, error) {
		return c.UpdateSubscriber(ctx, s.RecID, wire.SubscriberRequest{Name: &name})
	})
}

// subscriber is a command of a form that makes or changes a subscriber.
func (a *app) subscriber(to screen, f *form, what string, make func(ctx context.Context, c *client.Client) (*wire.Subscriber, error)) tea.Cmd {
	c, ctx, readOnly := a.client, a.context, a.readOnly
	return a.repeatable(what, func() tea.Msg {
		m := changedMsg{reply: reply{to, errReadOnly}, form: f, what: what}
		if !readOnly {
			m.subscriber, m.err = make(ctx, c)
		}
		return m
	})
}

// rotateSecret replaces the secret of a subscription.
func (a *app) rotateSecret(s wire.Subscription) tea.Cmd {
	c, ctx, readOnly := a.client, a.context, a.readOnly
	return a.repeatable("new secret of "+s.EventName, func() tea.Msg {
		m := rotatedMsg{reply: reply{err: errReadOnly}, of: s}
		if !readOnly {
			m.made, m.err = c.RotateSecret(ctx, s.SubscriberID, s.RecID, wire.SecretRequest{})
		}
		return m
	})
}
