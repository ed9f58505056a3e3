package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
)

// checkDeliveries requests the state of the deliveries.
func (d *Diagnosis) checkDeliveries() check.Result {
	if !d.admin || !d.hasFeature("stats") {
		return notApplicable
	}
	ctx, cancel := context.WithTimeout(d.c.Context, timeout)
	defer cancel()
	stats, err := d.service.Stats(ctx, 0) // of the default period
	if err != nil {
		return failed(err.Error(), "look at the log of the service")
	}
	result := deliveryResult(stats.InHand)
	if result.Status != check.OK {
		return result
	}
	return queueResult(stats.Queues, time.Time(stats.ServerDateTime), result)
}

// queueResult returns the most severe problem of subscriptions, or healthy if they have none.
func queueResult(queues []wire.Queue, now time.Time, healthy check.Result) check.Result {
	isFailing := func(q wire.Queue) bool { return q.IsEnabled && q.Breaker == wire.BreakerOpen }
	if failing := selected(queues, isFailing); len(failing) > 0 {
		return failingResult(failing, now)
	}
	isStopped := func(q wire.Queue) bool {
		return !q.IsEnabled && q.DisabledReason != "" && q.Pending > 0
	}
	if stopped := selected(queues, isStopped); len(stopped) > 0 {
		return stoppedResult(stopped)
	}
	if held := heldSubscriptions(queues); len(held) > 0 {
		return heldResult(held)
	}
	if waiting, until := waitingSubscriptions(queues); len(waiting) > 0 {
		return waitingResult(waiting, until.Sub(now))
	}
	return healthy
}

// selected returns the queues that meet a condition.
func selected(queues []wire.Queue, meets func(wire.Queue) bool) []wire.Queue {
	return slices.DeleteFunc(slices.Clone(queues), func(q wire.Queue) bool { return !meets(q) })
}

// failingResult warns of endpoints that get only probes, since they have failed too often.
func failingResult(failing []wire.Queue, now time.Time) check.Result {
	endpoints := "the endpoint of 1 subscription fails"
	if n := len(failing); n > 1 {
		endpoints = "the endpoints of " + display.Thousands(n) + " subscriptions fail"
	}
	first := failing[0]
	detail := fmt.Sprintf("%s (circuit breaker open), %s: %s", endpoints, waitingMessages(failing),
		display.Sanitize(first.SubscriberName+" "+first.EventName))
	if since := time.Time(first.FailingSince); !since.IsZero() {
		detail += ", for " + display.Age(now.Sub(since))
	}
	if first.LastFailure != nil {
		detail += ", " + display.Sanitize(first.LastFailure.Message)
	}
	id := display.Sanitize(first.SubscriptionID)
	return warning(detail, "see whctl subscriptions show "+id+
		"; a delivered test ends the wait: whctl subscriptions test "+id)
}

// stoppedResult warns of subscriptions that send nothing for a reason, although messages wait.
func stoppedResult(stopped []wire.Queue) check.Result {
	count := display.Count(len(stopped), "subscription sends nothing", "subscriptions send nothing")
	first := stopped[0]
	detail := count + ", " + waitingMessages(stopped) + ": " +
		display.Sanitize(first.SubscriberName+" "+first.EventName+", "+first.DisabledReason)
	id := display.Sanitize(first.SubscriptionID)
	return warning(detail, "see whctl subscriptions show "+id+
		"; if it was disabled, once its endpoint works: whctl subscriptions enable "+id)
}

// waitingMessages counts the messages of queues that are to be sent.
func waitingMessages(queues []wire.Queue) string {
	total := int64(0)
	for _, q := range queues {
		total += q.Pending
	}
	return display.Count(total, "message waits", "messages wait")
}

// waitingSubscriptions returns the IDs of subscriptions with messages that wait because their
// endpoint requested it, and the last end of such a wait.
func waitingSubscriptions(queues []wire.Queue) ([]string, time.Time) {
	var ids []string
	var until time.Time
	for _, q := range queues {
		end := time.Time(q.WaitUntilDateTime)
		if end.IsZero() || !q.IsEnabled || q.Pending == 0 {
			continue
		}
		ids = append(ids, q.SubscriptionID)
		if end.After(until) {
			until = end
		}
	}
	return ids, until
}

// waitingResult warns of messages that are not sent, because their endpoints requested a wait.
func waitingResult(ids []string, remaining time.Duration) check.Result {
	wait := display.Age(remaining)
	detail := "messages of 1 subscription wait: the endpoint requested it by Retry-After, for another " + wait
	if n := len(ids); n > 1 {
		detail = fmt.Sprintf("messages of %s subscriptions wait: "+
			"their endpoints requested it by Retry-After, for up to another %s", display.Thousands(n), wait)
	}
	return warning(detail,
		"nothing is lost; whctl subscriptions test "+display.Sanitize(ids[0])+" ends the wait")
}

// heldSubscriptions returns the IDs of enabled subscriptions with messages that are held. A disabled one
// sends nothing, even if its owner may read them.
func heldSubscriptions(queues []wire.Queue) []string {
	var ids []string
	for _, q := range queues {
		if q.IsEnabled && len(q.HeldEvents) > 0 {
			ids = append(ids, q.SubscriptionID)
		}
	}
	return ids
}

// heldResult warns of messages that are not sent, because the owners of their subscriptions may not
// read the records.
func heldResult(ids []string) check.Result {
	subscriptions := display.Count(len(ids), "subscription", "subscriptions")
	show := "whctl subscriptions show " + display.Sanitize(ids[0])
	return warning("messages of "+subscriptions+" are held: the owner may not read their records",
		"have a user that may read the records save the subscription; see "+show)
}

// deliveryResult reports problems of the service's machine that hold up deliveries.
func deliveryResult(inHand wire.InHand) check.Result {
	if inHand.Paused != "" {
		return failed(display.Sanitize(inHand.Paused),
			"free the resource on the machine of the service; "+
				"for file descriptors raise its limit (LimitNOFILE of systemd, ulimit -n)")
	}
	if inHand.Overdue > 0 {
		requests := display.Count(inHand.Overdue, "request is", "requests are")
		detail := requests + " still open after webhooks.attempt_timeout; the messages are not affected"
		return warning(detail, "restart the service to close the connections, and report this")
	}
	if n := inHand.Blocked["proxy"]; n > 0 {
		return warning("webhooks.proxy cannot be used: messages of "+
			display.Count(n, "subscription", "subscriptions")+" wait, and are sent later",
			"run whd check on the machine of the service")
	}
	if len(inHand.Blocked) > 0 {
		return warning("messages wait because of the machine of the service, and are sent later; "+
			"subscriptions by cause: "+causes(inHand.Blocked), "look at the log of the service")
	}
	if len(inHand.Uncharged) > 0 {
		return passed("attempts not charged to their endpoints since the start, by cause: " +
			causes(inHand.Uncharged))
	}
	return passed(display.Count(inHand.InFlight, "attempt", "attempts") + " in flight")
}

// causes lists numbers by cause.
func causes(numbers map[string]int64) string {
	var counts []string
	for _, cause := range slices.Sorted(maps.Keys(numbers)) {
		counts = append(counts, fmt.Sprintf("%s %d", display.Sanitize(cause), numbers[cause]))
	}
	return strings.Join(counts, ", ")
}
