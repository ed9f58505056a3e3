package metadata

import (
	"maps"
	"slices"
	"strings"
)

// swaggerRefs replaces the start of references.
var swaggerRefs = strings.NewReplacer("#/components/schemas/", "#/definitions/", "#/components/", "#/")

// swaggerDocument converts an OpenAPI 3.1 document to version 2.0.
func swaggerDocument(document object) object {
	converted := maps.Clone(document)
	delete(converted, "openapi")
	delete(converted, "components")
	delete(converted, "webhooks")
	converted["swagger"] = "2.0"
	converted["consumes"] = []string{jsonType}
	converted["produces"] = slices.Sorted(maps.Keys(documents(nil)))
	converted["paths"] = swaggerEach(document["paths"].(object), swaggerPath)
	maps.Copy(converted, swaggerComponents(document["components"].(object)))
	return converted
}

// swaggerEach converts the parts of an object. Its member names, such as paths, are no keywords.
func swaggerEach(parts object, convert func(object) object) object {
	converted := make(object, len(parts))
	for name, part := range parts {
		converted[name] = convert(part.(object))
	}
	return converted
}

// swaggerComponents returns the members of a document that replace its components.
func swaggerComponents(components object) object {
	parameters := maps.Clone(components["parameters"].(object))
	maps.DeleteFunc(parameters, func(name string, _ any) bool { return strings.HasSuffix(name, compactSuffix) })
	security := components["securitySchemes"].(object)
	return object{
		"definitions": swaggerEach(components["schemas"].(object), swaggerSchema),
		"parameters":  swaggerEach(parameters, swaggerParameter),
		"responses":   swaggerEach(components["responses"].(object), swaggerResponse),
		"securityDefinitions": object{
			"basic":         object{"type": "basic"},
			"sessionHeader": security["sessionHeader"],
			"bearer": object{
				"type":        "apiKey",
				"in":          "header",
				"name":        "Authorization",
				"description": "Bearer and an API key",
			},
			"session": object{"type": "apiKey", "in": "header", "name": "Cookie"},
		},
	}
}

// swaggerPath converts the operations of a path and the parameters that they share.
func swaggerPath(path object) object {
	converted := make(object, len(path))
	for name, value := range path {
		if name == "parameters" {
			converted[name] = swaggerParameters(value.([]any))
			continue
		}
		converted[name] = swaggerOperation(value.(object))
	}
	return converted
}

// swaggerOperation converts one method of a path. Its body becomes the last parameter.
func swaggerOperation(operation object) object {
	converted := maps.Clone(operation)
	delete(converted, "requestBody")

	parameters, hasParameters := operation["parameters"].([]any)
	parameters = swaggerParameters(parameters)
	body, hasBody := operation["requestBody"].(object)
	if hasBody {
		parameters = append(parameters, swaggerBody(body))
	}
	if hasParameters || hasBody {
		converted["parameters"] = parameters
	}

	responses := operation["responses"].(object)
	converted["responses"] = swaggerEach(responses, swaggerResponse)
	if types := otherTypes(responses); len(types) > 0 {
		converted["produces"] = types
	}
	return converted
}

// otherTypes returns the media types of responses that have no JSON, in order.
func otherTypes(responses object) []string {
	var types []string
	for _, response := range responses {
		content, ok := response.(object)["content"].(object)
		if ok && content[jsonType] == nil {
			types = slices.AppendSeq(types, maps.Keys(content))
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// swaggerBody returns the parameter for a request body.
func swaggerBody(body object) object {
	media := body["content"].(object)[jsonType].(object)
	return object{
		"name":     "body",
		"in":       "body",
		"required": body["required"],
		"schema":   swaggerSchema(media["schema"].(object)),
	}
}

// swaggerResponse converts a response. Only that in JSON has a schema other than a text.
func swaggerResponse(response object) object {
	if target, ok := response["$ref"].(string); ok {
		return swaggerRef(target)
	}
	converted := maps.Clone(response)
	delete(converted, "content")
	if headers, ok := response["headers"].(object); ok {
		converted["headers"] = swaggerEach(headers, swaggerParameter)
	}
	content, ok := response["content"].(object)
	if !ok {
		return converted
	}
	converted["schema"] = object{"type": "string"}
	if media, ok := content[jsonType].(object); ok {
		converted["schema"] = swaggerSchema(media["schema"].(object))
	}
	return converted
}

// swaggerParameters converts a list of parameters, without those for all members of a query, which
// Swagger does not have.
func swaggerParameters(parameters []any) []any {
	converted := make([]any, 0, len(parameters))
	for _, value := range parameters {
		parameter := value.(object)
		target, _ := parameter["$ref"].(string)
		if !strings.HasSuffix(target, compactSuffix) {
			converted = append(converted, swaggerParameter(parameter))
		}
	}
	return converted
}

// swaggerParameter converts a parameter or a header. It has the members of its schema.
func swaggerParameter(parameter object) object {
	if target, ok := parameter["$ref"].(string); ok {
		return swaggerRef(target)
	}
	converted := swaggerSchema(parameter["schema"].(object))
	maps.Copy(converted, parameter)
	for _, name := range []string{"schema", "style", "explode", "deprecated", "example"} {
		delete(converted, name)
	}
	if example, ok := parameter["example"]; ok && example != "" {
		converted["x-example"] = example
	}
	// The items of a parameter, unlike those of a schema, cannot have a description.
	if items, ok := converted["items"].(object); ok && parameter["in"] != nil {
		delete(items, "description")
	}
	return converted
}

// swaggerSchema converts a schema and those in it.
func swaggerSchema(schema object) object {
	if target, ok := schema["$ref"].(string); ok {
		return swaggerRef(target)
	}
	converted := maps.Clone(schema)
	delete(converted, "deprecated")
	if schema["contentEncoding"] != nil {
		delete(converted, "contentEncoding")
		converted["format"] = "byte"
	}
	if types, ok := schema["type"].([]any); ok {
		converted["type"] = types[0] // the second one is null
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[name].(object); ok {
			converted[name] = swaggerSchema(inner)
		}
	}
	if members, ok := schema["properties"].(properties); ok {
		members = slices.Clone(members)
		for i := range members {
			members[i].schema = swaggerSchema(members[i].schema.(object))
		}
		converted["properties"] = members
	}
	return converted
}

// swaggerRef returns a reference, which has no other members.
func swaggerRef(target string) object { return object{"$ref": swaggerRefs.Replace(target)} }
