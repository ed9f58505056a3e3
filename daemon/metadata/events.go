package metadata

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// Event is an event that subscriptions can receive.
type Event struct {
	record.Event
	Kind *record.Kind // the kind of a captured event; nil if clients or the service publish it
	Body any          // a sample of the body of an event of the service itself; nil for any other event
}

// Events returns the published events, without events of kinds that the reader may not read. bodies
// has samples of the bodies of the service's own events, by name.
func Events(
	published []record.Event, bodies map[string]any, kinds *record.Registry, mayRead func(*record.Kind) bool,
) []Event {
	captured := make(map[string]*record.Kind) // by name in lower case
	for _, kind := range kinds.Kinds() {
		for _, e := range record.CapturedEvents(kind) {
			key := strings.ToLower(e.Name)
			if captured[key] == nil { // the first kind of a name publishes it
				captured[key] = kind
			}
		}
	}
	var events []Event
	for _, e := range published {
		kind := captured[strings.ToLower(e.Name)]
		if kind == nil || mayRead(kind) {
			events = append(events, Event{Event: e, Kind: kind, Body: bodies[e.Name]})
		}
	}
	return events
}

// webhookHeaders are the headers of a delivery.
var webhookHeaders = []webhookHeader{
	{name: "webhook-id", help: "the ID of the message, the same in every attempt"},
	{name: "webhook-timestamp", help: "the time of the attempt, in seconds since 1970-01-01"},
	{
		name:     "webhook-signature",
		help:     "v1, and the base64 of the HMAC-SHA256 of ID, time and body, separated by dots",
		optional: true,
	},
	{name: "x-event-name", help: "the name of the event"},
	{name: "ce-specversion", help: "1.0; this header and the following, if Format is cloudevents", optional: true},
	{name: "ce-id", help: "the EventID, the same in all messages of the event", optional: true},
	{name: "ce-source", help: "the address of the events, relative to the service", optional: true},
	{name: "ce-type", help: "the name of the event, percent-encoded", optional: true},
	{name: "ce-time", help: "the time of the event (RFC 3339)", optional: true},
	{name: "ce-subject", help: "the Key of the event, percent-encoded, if it has one", optional: true},
}

// webhookHeader is a header of deliveries.
type webhookHeader struct {
	name     string
	help     string
	optional bool
}

// webhooks describes the deliveries of events, by the name of the event.
func (d *description) webhooks(events []Event) object {
	var headers []any
	for _, h := range webhookHeaders {
		headers = append(headers, object{
			"name":        h.name,
			"in":          "header",
			"required":    !h.optional,
			"description": h.help,
			"schema":      object{"type": "string"},
		})
	}
	described := object{}
	for _, e := range events {
		content := object{"schema": object{}, "example": sampleOf(e)}
		if e.Kind != nil {
			content["schema"] = changeOf(e.Kind)
		}
		if e.Body != nil {
			content["schema"] = d.bodyOf(e)
		}
		described[e.Name] = object{"post": object{
			"summary":     e.Description,
			"parameters":  headers,
			"requestBody": object{"required": true, "content": object{jsonType: content}},
			"responses":   object{"2XX": object{"description": "The message is delivered"}},
			"security":    []any{},
		}}
	}
	return described
}

// changeOf returns the schema of the body of an event of a captured kind. It is no component: some
// generators of clients leave out components that only webhooks refer to.
func changeOf(k *record.Kind) object {
	row := ref("schemas", k.Name)
	members := properties{
		{"ChangeID", scalar("long")},
		{"Kind", object{"type": "string", "enum": []string{k.Name}}},
		{"Op", object{"type": "string", "enum": []string{wire.OpCreated, wire.OpUpdated, wire.OpDeleted}}},
		{"Key", scalar("string")},
		{"KeyFields", row},
		{"Record", row},
		{"Changed", object{"type": "array", "items": scalar("string")}},
	}
	if len(k.Before) > 0 {
		members = append(members, property{"Before", row})
	}
	members = append(members, property{"CapturedAt", object{"type": "string", "format": "date-time"}})
	schema := objectSchema(members, []string{"ChangeID", "Kind", "Op", "Key", "KeyFields", "CapturedAt"})
	schema["description"] = "A change of a record. A deleted record has no Record; only an update has Changed. " +
		"KeyFields and Before have some of the fields, and null values are left out."
	return schema
}

// bodyOf returns the schema of the body of an event of the service itself, which is no component
// either.
func (d *description) bodyOf(e Event) object {
	return d.structSchema(shapeOf(reflect.TypeOf(e.Body)))
}

// BodyMembers returns the members of the body of an event of the service itself.
func (e Event) BodyMembers() []Member {
	var members []Member
	for _, f := range shapeOf(reflect.TypeOf(e.Body)).fields {
		members = append(members, Member{
			Name:     f.name,
			Type:     f.shape.typeName(),
			Required: !f.optional,
			Help:     f.help,
		})
	}
	return members
}

// sampleOf returns the body of an event of which the record does not exist.
func sampleOf(e Event) any {
	if e.Body != nil {
		return e.Body
	}
	if e.Kind == nil {
		return json.RawMessage(record.SampleBody(e.Name))
	}
	op := e.Name[strings.LastIndexByte(e.Name, '.')+1:]
	key := properties{}
	row := properties{}
	for _, f := range e.Kind.Fields {
		value := fieldSamples[f.Type]
		if slices.Contains(e.Kind.Key, f.Name) {
			key = append(key, property{f.Name, value})
		}
		row = append(row, property{f.Name, value})
	}
	sample := properties{
		{"ChangeID", 1},
		{"Kind", e.Kind.Name},
		{"Op", op},
		{"Key", "TEST-1"},
		{"KeyFields", key},
	}
	if op != wire.OpDeleted {
		sample = append(sample, property{"Record", row})
	}
	if op == wire.OpUpdated {
		sample = append(sample, property{"Changed", []string{e.Kind.Fields[len(e.Kind.Fields)-1].Name}})
	}
	return append(sample, property{"CapturedAt", "2024-01-31T12:00:00.0000000Z"})
}

// fieldSamples are values of fields, by type.
var fieldSamples = map[record.Type]any{
	record.Text:       "A",
	record.Int:        1,
	record.Short:      1,
	record.Byte:       1,
	record.Long:       1,
	record.Decimal:    9.5,
	record.Double:     9.5,
	record.Bool:       true,
	record.DateTime:   "2024-01-31T00:00:00.0000000",
	record.Epoch:      "/Date(1706659200000+0000)/",
	record.Bytes:      "AAAAAAAAB9E=",
	record.Guid:       "00000000-0000-0000-0000-000000000001",
	record.TimeSpan:   "PT1S",
	record.Dictionary: object{},
	record.Object:     object{},
}
