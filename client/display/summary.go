package display

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
)

// Summary returns the message of a response that reports a failure, on one line: the text of the
// member of a JSON object that names the reason, the title of an HTML page, or else the first line
// that has text. A text that was cut off, as stored responses are, is summarized as far as it goes.
func Summary(response string) string {
	response = strings.TrimSpace(response)
	reason := reasonIn(response)
	if reason != "" {
		return oneLine(reason)
	}
	title := titleElement.FindStringSubmatch(response)
	if title != nil && oneLine(title[1]) != "" {
		return oneLine(html.UnescapeString(title[1]))
	}
	for line := range strings.Lines(response) {
		if tags.MatchString(line) {
			line = html.UnescapeString(tags.ReplaceAllString(line, " "))
		}
		line = oneLine(line)
		if line != "" {
			return line
		}
	}
	return ""
}

var (
	titleElement = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	tags         = regexp.MustCompile(`<[^>]*>`)
)

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// reasonMembers are the members of JSON objects that name the reason of a failure, in the order of
// preference: those of RFC 9457, of OAuth 2.0 (RFC 6749), of ServiceStack, and usual ones.
var reasonMembers = []string{
	"detail", "message", "error_description", "errormessage", "error", "errors", "reason", "title",
	"responsestatus", "description",
}

// reasonIn returns the reason of a failure in a JSON text; empty for other texts.
func reasonIn(text string) string {
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return ""
	}
	var value any
	err := json.Unmarshal([]byte(text), &value)
	if err != nil {
		return ""
	}
	return reasonOf(value, maxDepth)
}

// maxDepth is the number of objects and arrays in which a reason is searched.
const maxDepth = 4

// reasonOf returns the reason that a JSON value contains.
func reasonOf(value any, depth int) string {
	if depth == 0 {
		return ""
	}
	switch value := value.(type) {
	case string:
		return value
	case []any:
		if len(value) > 0 {
			return reasonOf(value[0], depth-1)
		}
	case map[string]any:
		members := make(map[string]any, len(value))
		for name, member := range value {
			members[strings.ToLower(name)] = member
		}
		for _, name := range reasonMembers {
			reason := reasonOf(members[name], depth-1)
			if reason != "" {
				return reason
			}
		}
	}
	return ""
}
