package pages

import (
	"strconv"
	"strings"

	"github.com/bizhook/whd/daemon/webhook"
)

// status is the state of a message in words, with a sign, so that the colour is not the only mark.
type status struct {
	Words, Sign, Class string
}

// statuses are the states of messages by number.
var statuses = map[webhook.Status]status{
	webhook.NotSent:      {"not sent", "○", "idle"},
	webhook.Successful:   {"delivered", "✓", "good"},
	webhook.RetryPending: {"retrying", "↻", "warn"},
	webhook.Failed:       {"failed", "✗", "bad"},
}

// statusOf returns the state with a number.
func statusOf(n int) status {
	named, ok := statuses[webhook.Status(n)]
	if !ok {
		return status{Words: "status " + strconv.Itoa(n), Sign: "?", Class: "idle"}
	}
	return named
}

// answer describes the last response of an endpoint. Reason phrases start with their code, unless the
// endpoint has chosen another one.
func answer(code *int, message string) string {
	if code == nil || *code == 0 {
		return message
	}
	text := strconv.Itoa(*code)
	hasCode := message == text || strings.HasPrefix(message, text+" ")
	switch {
	case hasCode:
		return message
	case message == "":
		return text
	default:
		return text + " " + message
	}
}
