package tui

import (
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/ui"
)

func (s *messages) Commands() []string {
	which := s.which()
	if which == "" {
		return nil
	}
	return []string{"whctl messages retry" + which, "whctl messages delete" + which, s.Equivalent() + browse.ToFile("Messages")}
}

// which names the messages that are meant, as whctl takes them.
func (s *messages) which() string {
	if s.allMarks {
		if limits := s.limits(); limits != "" {
			return limits
		}
		return " --all-messages"
	}
	text := ""
	for _, row := range s.Grid.MarkedRows() {
		text += " " + row.ID
	}
	if one, ok := s.selected(); ok && text == "" {
		text = " " + one.MessageID
	}
	return text
}

func (s *messageScreen) Commands() []string {
	return []string{"whctl messages retry " + s.message.MessageID, "whctl messages delete " + s.message.MessageID}
}

func (s *subscribers) Commands() []string {
	list := []string{"whctl subscribers create NAME"}
	if one, ok := s.selected(); ok {
		name := ui.Quote(one.Name)
		list = append(list, "whctl subscribers change "+name+" --name NAME", "whctl subscribers "+switching(one.IsEnabled)+" "+name, "whctl subscribers delete "+name)
	}
	return list
}

func (s *subscriptions) Commands() []string {
	list := []string{"whctl subscriptions create " + ui.Quote(s.subscriber.Name) + " EVENT URL"}
	if one, ok := s.selected(); ok {
		list = append(list, subscriptionDeeds(one)...)
	}
	return list
}

func subscriptionDeeds(one wire.Subscription) []string {
	return []string{
		"whctl subscriptions change " + one.RecID + " --to URL", "whctl subscriptions test " + one.RecID, "whctl subscriptions rotate-secret " + one.RecID,
		"whctl subscriptions " + switching(one.IsEnabled) + " " + one.RecID, "whctl subscriptions delete " + one.RecID,
	}
}

func (e *events) Commands() []string {
	if row := e.Grid.Row(); row != nil {
		return []string{"whctl subscriptions create SUBSCRIBER " + row.ID + " URL"}
	}
	return nil
}

// switching is the command that turns on what is off, and off what is on.
func switching(on bool) string {
	if on {
		return "disable"
	}
	return "enable"
}
