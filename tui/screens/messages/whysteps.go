package messages

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// whySection is a change or an event with its messages by subscription.
type whySection struct {
	key    string
	steps  []wire.WhyStep // of no subscription
	blocks []*whyBlock
}

// whyBlock has the steps of a subscription.
type whyBlock struct {
	subscription string
	name, url    string
	steps        []wire.WhyStep
}

// whySections groups steps in the order of time by change or event, and these by subscription.
// Steps that describe the present without either are last.
func whySections(steps []wire.WhyStep) []*whySection {
	var sections []*whySection
	sectionOf := func(key string) *whySection {
		for _, section := range sections {
			if section.key == key {
				return section
			}
		}
		section := &whySection{key: key}
		sections = append(sections, section)
		return section
	}
	for _, step := range steps {
		key := step.EventID
		if key == "" && step.ChangeID != 0 {
			key = fmt.Sprint(step.Kind, " ", step.ChangeID)
		}
		sectionOf(key).add(step)
	}
	return sections
}

// add adds a step to the block of its subscription, if it has one.
func (s *whySection) add(step wire.WhyStep) {
	if step.SubscriptionID == "" {
		s.steps = append(s.steps, step)
		return
	}
	for _, block := range s.blocks {
		if block.subscription == step.SubscriptionID {
			block.steps = append(block.steps, step)
			return
		}
	}
	s.blocks = append(s.blocks, &whyBlock{
		subscription: step.SubscriptionID,
		name:         cmp.Or(step.Subscriber, ui.ShortID(step.SubscriptionID)),
		url:          step.URL,
		steps:        []wire.WhyStep{step},
	})
}

// whyLayout converts steps to the items of a timeline.
type whyLayout struct {
	session *ui.Session
	search  string // in lower case; steps without it are left out
}

// Widths of the names of subscribers.
const (
	minNameWidth = 14
	maxNameWidth = 30
)

func (l *whyLayout) items(steps []wire.WhyStep) []timelineItem {
	sections := whySections(steps)
	nameWidth := minNameWidth
	for _, section := range sections {
		for _, block := range section.blocks {
			nameWidth = min(max(nameWidth, theme.Width(block.name)), maxNameWidth)
		}
	}
	var items []timelineItem
	for _, section := range sections {
		shown := l.matching(l.sectionItems(section))
		for i, block := range section.blocks {
			steps := l.blockItems(block, nameWidth)
			if i == 0 && len(shown) > 0 && len(steps) > 0 {
				shown = append(shown, timelineItem{})
			}
			shown = append(shown, steps...)
		}
		if len(shown) == 0 {
			continue
		}
		if len(items) > 0 {
			items = append(items, timelineItem{})
		}
		items = append(items, shown...)
	}
	return items
}

// matching leaves out the items without the search text.
func (l *whyLayout) matching(items []timelineItem) []timelineItem {
	var matching []timelineItem
	for _, item := range items {
		if l.matches(item.label + " " + item.text) {
			matching = append(matching, item)
		}
	}
	return matching
}

// matches reports whether a line has the search text.
func (l *whyLayout) matches(line string) bool {
	return strings.Contains(strings.ToLower(line), l.search)
}

// sectionItems returns the items of a change and its event.
func (l *whyLayout) sectionItems(section *whySection) []timelineItem {
	hasChange := false
	var items []timelineItem
	for _, step := range section.steps {
		hasChange = hasChange || step.Step == wire.WhyChange
		if step.Step == wire.WhyEvent && hasChange {
			continue // the change has its name
		}
		items = append(items, l.sectionItem(step))
	}
	return items
}

func (l *whyLayout) sectionItem(step wire.WhyStep) timelineItem {
	t := l.session.Theme
	item := timelineItem{
		id:    whyID(step),
		sign:  t.NotSent,
		role:  theme.Pending,
		time:  l.timeText(step),
		label: step.Step,
		text:  step.Text,
	}
	switch step.Step {
	case wire.WhyChange:
		item.sign, item.role = t.Mark, theme.Accent
		item.label, item.text = l.changeText(step)
		item.note = l.ageText(step)
	case wire.WhyEvent:
		item.sign, item.role = t.Mark, theme.Accent
		item.note = l.ageText(step)
	case wire.WhyNoSubscription, wire.WhyDeleted:
		item.label = noMessage
	}
	return item
}

// noMessage is the label of a subscription without a message.
const noMessage = "no message"

// changeText returns the operation of a change, and its values and the name of its event.
func (l *whyLayout) changeText(step wire.WhyStep) (label, text string) {
	operation, values, _ := strings.Cut(step.Text, ": ")
	label = strings.TrimPrefix(operation, step.Kind+" ")
	if label == wire.OpUpdated && values != "" {
		label = "changed"
	}
	values = strings.ReplaceAll(values, " -> ", " "+l.session.Theme.Right+" ")
	if step.EventName != "" {
		values += "  (" + step.EventName + ")"
	}
	return label, cmp.Or(strings.TrimSpace(values), step.Kind)
}

// blockItems returns the heading of a subscription, and its steps.
func (l *whyLayout) blockItems(block *whyBlock, nameWidth int) []timelineItem {
	shown := l.blockSteps(block)
	if !l.matches(block.name + " " + ui.EndpointName(block.url)) { // else all steps are of interest
		shown = l.matching(shown)
	}
	if len(shown) == 0 {
		return nil
	}
	name := l.session.Theme.Fit(block.name, nameWidth, false)
	heading := []theme.Span{
		{Text: name + "  ", Role: theme.Breadcrumb},
		{Text: ui.EndpointName(block.url), Role: theme.Dim},
	}
	return append([]timelineItem{{heading: heading}}, shown...)
}

func (l *whyLayout) blockSteps(block *whyBlock) []timelineItem {
	var items []timelineItem
	attempts := make(map[string]int)   // number of the last attempt of each message
	succeeded := make(map[string]bool) // messages with a successful attempt
	for _, step := range block.steps {
		switch step.Step {
		case wire.WhyMessage:
			continue // the heading describes it
		case wire.WhyAttempt:
			attempts[step.MessageID] = attemptOf(step).number
			succeeded[step.MessageID] = isSuccess(step.Code)
		case wire.WhyDelivered:
			if succeeded[step.MessageID] {
				continue
			}
		}
		items = append(items, l.blockItem(step, attempts[step.MessageID]))
	}
	return items
}

// isSuccess reports whether a status code confirms a delivery.
func isSuccess(code int) bool { return code >= 200 && code <= 299 }

// blockItem returns the item of a step of a subscription. attempts is the number of attempts of its
// message up to and including the step.
func (l *whyLayout) blockItem(step wire.WhyStep, attempts int) timelineItem {
	t := l.session.Theme
	item := timelineItem{id: whyID(step), time: l.timeText(step), label: step.Step, text: step.Text}
	item.sign, item.role = t.NotSent, theme.Pending
	reason := strings.TrimPrefix(step.Text, step.Subscriber+", "+step.URL+": ")
	item.text = reason
	due := time.Time(step.Due)
	until := ui.Until(l.session.TimeUntil(due))
	next := fmt.Sprintf("attempt %d", attempts+1)
	switch step.Step {
	case wire.WhyAttempt:
		attempt := attemptOf(step)
		item.label = fmt.Sprintf("attempt %d", attempt.number)
		item.text = strings.TrimSuffix(attempt.result+", "+attempt.took, ", ")
		item.sign, item.role = t.Fail, theme.Failure
		if isSuccess(step.Code) {
			item.sign, item.role = t.OK, theme.Success
		}
	case wire.WhyDelivered:
		item.sign, item.role = t.OK, theme.Success
		item.text = ""
	case wire.WhyFailed:
		item.sign, item.role = t.Fail, theme.Failure
	case wire.WhyRetrying:
		item.sign, item.role = t.Retry, theme.Warning
		item.label, item.text = next, until
	case wire.WhyBreakerOpen:
		item.sign, item.role = t.Retry, theme.Warning
		item.label, item.text = next, until+": paused after failures"
	case wire.WhyWaiting:
		item.label = next
		if !due.IsZero() {
			requested, _, _ := strings.Cut(reason, " until ")
			item.text = until + ": " + requested
		}
	case wire.WhyDisabled:
		item.label, item.text = next, "not sent: "+reason
	case wire.WhyHeld:
		item.sign, item.role = t.Retry, theme.Warning
		item.label, item.text = next, "held: "+reason
	case wire.WhyUnmet, wire.WhyNoSubscription, wire.WhyDeleted:
		item.label = noMessage
		item.text = l.conditionText(reason)
		item.time = ""
	}
	return item
}

// conditionText replaces the JSON of a condition at the end of a text by words, as in
// "Status: 1 -> 2".
func (l *whyLayout) conditionText(text string) string {
	before, condition, ok := strings.Cut(text, ": {")
	if !ok {
		return text
	}
	row, err := client.ParseRow([]byte("{" + condition))
	if err != nil {
		return text
	}
	var words []string
	for name, value := range row.All() {
		previous := row.Value("Before." + name)
		switch {
		case name == "Changed" && row.Value(value.String()) != nil:
			continue // the value describes the change
		case name == "Changed":
			words = append(words, value.String()+" changed")
		case strings.HasPrefix(name, "Before.") && row.Value(strings.TrimPrefix(name, "Before.")) != nil:
			continue // shown with the value after the change
		case previous != nil:
			words = append(words, name+": "+string(previous)+" "+l.session.Theme.Right+" "+string(value))
		default:
			words = append(words, name+": "+string(value))
		}
	}
	return before + ": " + strings.Join(words, ", ")
}

// attemptText has the parts of the text of an attempt.
type attemptText struct {
	number int // 1 for the first attempt
	result string
	took   string
}

// attemptOf returns the parts of an attempt, of which the text is "2: 503 Unavailable, 12ms".
func attemptOf(step wire.WhyStep) attemptText {
	number, result, _ := strings.Cut(step.Text, ": ")
	attempt := attemptText{result: result}
	attempt.number, _ = strconv.Atoi(number) // a number of the service
	i := strings.LastIndex(result, ", ")
	if i < 0 {
		return attempt
	}
	took, err := time.ParseDuration(result[i+len(", "):])
	if err != nil {
		return attempt
	}
	attempt.result = result[:i]
	attempt.took = ui.Took(took)
	if took < time.Millisecond { // the service leaves out fractions
		attempt.took = "< 1 ms"
	}
	return attempt
}

// recentTimes is the age up to which times of day are shown without the date.
const recentTimes = 12 * time.Hour

// timeText returns when a step was done or is due, "now" for the present.
func (l *whyLayout) timeText(step wire.WhyStep) string {
	stepTime, layout := time.Time(step.At), "15:04:05"
	if stepTime.IsZero() {
		stepTime, layout = time.Time(step.Due), "15:04"
	}
	if stepTime.IsZero() {
		return "now"
	}
	distance := l.session.Since(stepTime)
	if max(distance, -distance) > recentTimes {
		layout = "01-02 " + layout
	}
	return l.session.InZone(stepTime).Format(layout)
}

// ageText returns how long ago a step was, "" if times are not relative.
func (l *whyLayout) ageText(step wire.WhyStep) string {
	when := time.Time(step.At)
	if when.IsZero() || l.session.Times != ui.Relative {
		return ""
	}
	return ui.Age(l.session.Since(when)) + " ago"
}
