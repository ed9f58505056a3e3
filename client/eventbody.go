package client

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
)

// eventsDocument has the parts of the OpenAPI document that describe events.
type eventsDocument struct {
	Webhooks map[string]struct {
		Post struct {
			Summary     string `json:"summary"`
			RequestBody struct {
				Content map[string]struct {
					Schema  json.RawMessage `json:"schema"`
					Example json.RawMessage `json:"example"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"post"`
	} `json:"webhooks"`
	Components struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
}

// EventBodies returns the descriptions of the bodies of all events, in the order of their names.
func (c *Client) EventBodies(ctx context.Context) ([]wire.EventBody, error) {
	document, err := get[eventsDocument](ctx, c, "/openapi.json")
	if err != nil {
		return nil, err
	}
	var bodies []wire.EventBody
	for name, event := range document.Webhooks {
		content := event.Post.RequestBody.Content["application/json"]
		schema, err := document.standalone(content.Schema)
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, wire.EventBody{
			Name:        name,
			Description: event.Post.Summary,
			Schema:      schema,
			Sample:      content.Example,
		})
	}
	byName := func(a, b wire.EventBody) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(bodies, byName)
	return bodies, nil
}

// schemaReference matches a reference to a schema of the document.
var schemaReference = regexp.MustCompile(`"#/components/schemas/([^"]+)"`)

// standalone returns a schema with those that it refers to in its member $defs.
func (d *eventsDocument) standalone(schema json.RawMessage) (json.RawMessage, error) {
	definitions := make(map[string]json.RawMessage)
	d.define(schema, definitions)
	if len(definitions) == 0 {
		return schema, nil
	}
	members := make(map[string]any)
	err := json.Unmarshal(schema, &members)
	if err != nil {
		return nil, err
	}
	members["$defs"] = definitions
	text, err := json.Marshal(members)
	return bytes.ReplaceAll(text, []byte("#/components/schemas/"), []byte("#/$defs/")), err
}

// define adds the schemas that a schema refers to.
func (d *eventsDocument) define(schema json.RawMessage, definitions map[string]json.RawMessage) {
	for _, match := range schemaReference.FindAllSubmatch(schema, -1) {
		name := string(match[1])
		definition, ok := d.Components.Schemas[name]
		if !ok || definitions[name] != nil {
			continue
		}
		definitions[name] = definition
		d.define(definition, definitions)
	}
}
