package sender

import (
	"net/http"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook"
)

// eventSource is the attribute source: the path of the list of events. It is the same on every
// instance and after each start. Consumers need only source and id together to be unique, and the
// id is a GUID.
const eventSource = "/Webhooks/Events"

// eventTime has milliseconds, as many digits as the libraries of consumers read. The store keeps
// more.
const eventTime = "2006-01-02T15:04:05.000Z07:00"

// addCloudEvent adds the attributes of an event as headers, in the binary mode of the HTTP protocol
// binding of CloudEvents 1.0. The attribute datacontenttype is the Content-Type. All messages of an
// event have the same attributes.
func addCloudEvent(h http.Header, e *webhook.Event) {
	name, _ := record.SentEvent(e.Name) // that of a test is the event that it imitates
	h["Ce-Specversion"] = []string{"1.0"}
	h["Ce-Id"] = []string{e.GUID}
	h["Ce-Source"] = []string{eventSource}
	h["Ce-Type"] = []string{attributeValue(name)}
	h["Ce-Time"] = []string{e.AddedAt.UTC().Format(eventTime)}
	if e.Key != "" {
		h["Ce-Subject"] = []string{attributeValue(e.Key)}
	}
}

// attributeValue encodes the value of an attribute as section 3.1.3.2 of the binding requires:
// blanks, double quotes, percent signs, and all bytes of characters that are not printable ASCII.
func attributeValue(text string) string {
	const digits = "0123456789ABCDEF"
	encoded := make([]byte, 0, len(text))
	for _, b := range []byte(text) {
		isPrintable := b > ' ' && b <= '~'
		if isPrintable && b != '"' && b != '%' {
			encoded = append(encoded, b)
			continue
		}
		encoded = append(encoded, '%', digits[b>>4], digits[b&15])
	}
	return string(encoded)
}
