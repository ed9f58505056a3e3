package tui

import (
	"github.com/bizhook/whd/tui/browse"
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
