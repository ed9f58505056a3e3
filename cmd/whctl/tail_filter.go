package main

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// statusWords are the statuses of messages in words.
var statusWords = []string{"new", "ok", "retry", "failed"}

func statusWord(status int) string {
	if status < 0 || status >= len(statusWords) {
		return fmt.Sprint(status)
	}
	return statusWords[status]
}

// changeFilter says which changes of messages are meant.
type changeFilter struct {
	statuses                 []int
	event                    string
	subscriber, subscription string
}

func (f changeFilter) takes(m wire.MessageChange) bool {
	sent, _ := record.SentEvent(m.EventName)
	event, _ := path.Match(strings.ToLower(f.event), strings.ToLower(sent)) // the pattern was checked
	return (len(f.statuses) == 0 || slices.Contains(f.statuses, m.Status)) &&
		(f.event == "" || event) &&
		(f.subscriber == "" || strings.EqualFold(f.subscriber, m.SubscriberID)) &&
		(f.subscription == "" || strings.EqualFold(f.subscription, m.SubscriptionID))
}

// changeFilter reads the flags.
func (p *program) changeFilter(c *cli.Context, service *client.Client) (f changeFilter, err error) {
	if f.statuses, err = readStatuses(c.String("status")); err != nil {
		return f, err
	}
	f.event = c.String("event")
	if _, err := path.Match(f.event, ""); err != nil {
		return f, cmdline.Usagef("--event %q is no pattern such as salesorder.*", f.event)
	}
	if text := c.String("subscriber"); text != "" {
		if f.subscriber, err = findSubscriber(c.Context, service, text); err != nil {
			return f, err
		}
	}
	if text := c.String("subscription"); text != "" {
		n, err := findSubscription(c.Context, service, f.subscriber, text)
		if err != nil {
			return f, err
		}
		f.subscription = n.id
	}
	return f, nil
}

func readStatuses(text string) ([]int, error) {
	var all []int
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		n := slices.Index(statusWords, strings.ToLower(word))
		if number, err := strconv.Atoi(word); err == nil {
			n = number
		}
		if n < 0 || n >= len(statusWords) {
			return nil, cmdline.Usagef("--status %q must be of 0 to 3, or %s", word, strings.Join(statusWords, ", "))
		}
		all = append(all, n)
	}
	return all, nil
}
