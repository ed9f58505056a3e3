package filter

import (
	"strings"
	"testing"
)

// Statuses are words in all operators, and one text can have several conditions.
func TestConditionsOnMessages(t *testing.T) {
	f := readerOf(t, "Message")
	for text, want := range map[string]string{
		"Status=failed":                           "Status=3",
		"status = Not-Sent":                       "Status=0",
		`Status in "not sent",retry`:              "Status in 0,2",
		"Status!=ok":                              "Status!=1",
		"Status=failed and Retries>=2":            "Status=3; Retries>=2",
		"Status=2 AND Retries>=2 and EventName=x": "Status=2; Retries>=2; EventName=x",
		`EventName="a and Retries>=2"`:            "EventName=a and Retries>=2",
		"EventName=this and that":                 "EventName=this and that",
		"EventName=a or b":                        "EventName=a or b",
	} {
		for name, texts := range map[string][]string{
			"ParseAll":           {text},
			"ParseAll and Split": f.Split(text),
		} {
			filters, err := f.ParseAll(texts)
			var got []string
			for _, filter := range filters {
				got = append(got, Text(filter))
			}
			if err != nil || strings.Join(got, "; ") != want {
				t.Errorf("%s of %q: got the filters %q, %v; want %q", name, text, got, err, want)
			}
		}
	}
}

func TestConditionsOnMessagesRefused(t *testing.T) {
	f := readerOf(t, "Message")
	for text, want := range map[string]string{
		"Status=faild":                 "one of not-sent, delivered, retrying, failed",
		"Status=4":                     "must be 0 to 3",
		"Status=failed and Retires>=2": "has no field Retires; did you mean Retries",
		"Status=failed or Retries>=2":  "cannot be combined with or",
		"Status=failed and Status=ok":  "duplicate condition",
	} {
		_, err := f.ParseAll([]string{text})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// TestTextOfStatus checks that filters show statuses in words, which Parse reads again.
func TestTextOfStatus(t *testing.T) {
	f := readerOf(t, "Message")
	for text, want := range map[string]string{
		"Status=2":           "Status=retrying",
		"Status in 0,3":      "Status in not-sent,failed",
		"Status!=delivered":  "Status!=delivered",
		"Status>=2":          "Status>=2", // the numbers have an order, the words have none
		"Retries=2":          "Retries=2",
		"Status in 1..2":     "Status between 1,2",
		"EventName=retrying": "EventName=retrying",
	} {
		parsed, err := f.Parse(text)
		if err != nil {
			t.Fatalf("Parse(%q): %v", text, err)
		}
		got := f.Text(parsed)
		reparsed, err := f.Parse(got)
		if got != want || err != nil || Text(reparsed) != Text(parsed) {
			t.Errorf("Text of %q = %q, parsed again %q, %v; want %q", text, got, Text(reparsed), err, want)
		}
	}
}
