package client_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
)

const messageID = "01a1c2d3-0000-7000-8000-000000007fa4"

// TestWhyOf checks the requests of WhyOf: first for the history of a key, then, if there is none,
// for the only message that the text is the ID of.
func TestWhyOf(t *testing.T) {
	const (
		ofKey     = "/Webhooks/Why?Key="
		ofMessage = "/Webhooks/Why?MessageID=" + messageID
		byWholeID = "/Webhooks/Messages?Fields=MessageID&MessageID="
		byShortID = "/Webhooks/Messages?Fields=MessageID" +
			"&MessageIDEndsWith=7fa4&MessageIDStartsWith=01a1&Take=2"
		message = `{"MessageID":"` + messageID + `"}`
	)
	for name, test := range map[string]struct {
		text     string
		isKey    bool   // with a history
		messages string // JSON of those that are found
		requests []string
		isOfKey  bool // the result
	}{
		"a key": {
			text:     "A1",
			isKey:    true,
			requests: []string{ofKey + "A1"},
			isOfKey:  true,
		},
		"a key that looks like an ID": {
			text:     messageID,
			isKey:    true,
			requests: []string{ofKey + messageID},
			isOfKey:  true,
		},
		"a key without a history": {
			text:     "A1",
			requests: []string{ofKey + "A1"},
			isOfKey:  true,
		},
		"an ID": {
			text:     messageID,
			messages: message,
			requests: []string{ofKey + messageID, byWholeID + messageID, ofMessage},
		},
		"a short ID": {
			text:     "01a1..7fa4",
			messages: message,
			requests: []string{ofKey + "01a1..7fa4", byShortID, ofMessage},
		},
		"a short ID with an ellipsis": {
			text:     "01a1…7fa4",
			messages: message,
			requests: []string{ofKey + url.QueryEscape("01a1…7fa4"), byShortID, ofMessage},
		},
		"a short ID of two messages": {
			text:     "01a1..7fa4",
			messages: message + "," + message,
			requests: []string{ofKey + "01a1..7fa4", byShortID},
			isOfKey:  true,
		},
		"an ID of no message": {
			text:     messageID,
			requests: []string{ofKey + messageID, byWholeID + messageID},
			isOfKey:  true,
		},
		"too few characters of an ID": {
			text:     "01a..7fa4",
			requests: []string{ofKey + "01a..7fa4"},
			isOfKey:  true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var requests []string
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				requests = append(requests, r.URL.RequestURI())
				w.Header().Set("Content-Type", "application/json; charset=utf-8")
				switch {
				case r.URL.Path == "/Webhooks/Messages":
					fmt.Fprintf(w, `{"Results":[%s]}`, test.messages)
				case r.URL.Query().Has("MessageID"):
					fmt.Fprint(w, `{"Key":"of the message","Steps":[{"Step":"attempt"}]}`)
				case test.isKey:
					fmt.Fprint(w, `{"Steps":[{"At":"2026-11-02T10:11:12.0000000","Step":"change"}]}`)
				default:
					fmt.Fprint(w, `{"Steps":[{"Step":"nothing"}]}`)
				}
			})

			why, err := c.WhyOf(t.Context(), test.text)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(requests, test.requests) {
				t.Errorf("WhyOf(%q) sent\n%q, want\n%q", test.text, requests, test.requests)
			}
			if isOfKey := why.Steps[0].Step != "attempt"; isOfKey != test.isOfKey {
				t.Errorf("WhyOf(%q) has the steps %+v, want those of the key: %t",
					test.text, why.Steps, test.isOfKey)
			}
			if !test.isOfKey && why.Key != test.text {
				t.Errorf("WhyOf(%q) has the key %q, want the text", test.text, why.Key)
			}
		})
	}
}

// TestWhyOfErrors checks that WhyOf returns the errors of both histories, but regards the text as
// a key if the messages cannot be read.
func TestWhyOfErrors(t *testing.T) {
	for failing, fails := range map[string]bool{
		"/Webhooks/Why?Key=" + messageID:                             true,
		"/Webhooks/Why?MessageID=" + messageID:                       true,
		"/Webhooks/Messages?Fields=MessageID&MessageID=" + messageID: false,
	} {
		t.Run(failing, func(t *testing.T) {
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json; charset=utf-8")
				if r.URL.RequestURI() == failing {
					w.WriteHeader(http.StatusForbidden)
					return
				}
				fmt.Fprintf(w, `{"Steps":[],"Results":[{"MessageID":%q}]}`, messageID)
			})
			why, err := c.WhyOf(t.Context(), messageID)
			if fails != (err != nil) {
				t.Errorf("WhyOf returned %+v, %v, want an error: %t", why, err, fails)
			}
		})
	}
}
