package metadata

import (
	"maps"
	"slices"
	"strings"
)

// swaggerRefs replaces the start of references.
var swaggerRefs = strings.NewReplacer("#/components/schemas/", "#/definitions/", "#/components/requestBodies/", "#/parameters/", "#/components/", "#/")

// swagger converts a value of an OpenAPI 3.1 document to version 2.0.
func swagger(v any) any {
	switch v := v.(type) {
	case properties:
		all := slices.Clone(v)
		for i := range all {
			all[i].schema = swagger(all[i].schema)
		}
		return all
	case []any:
		all := slices.Clone(v)
		for i := range all {
			all[i] = swagger(all[i])
		}
		return all
	case object:
		return swaggerObject(v)
	}
	return v
}

func swaggerObject(v object) object {
	if target, ok := v["$ref"].(string); ok { // no other members are allowed
		return object{"$ref": swaggerRefs.Replace(target)}
	}
	old := object{}
	for name, value := range v {
		swaggerMember(old, name, value)
	}
	if in := old["in"]; in == "query" || in == "path" {
		withoutObjects(old)
	}
	return old
}

// withoutObjects makes a parameter a scalar or a list of scalars.
func withoutObjects(parameter object) {
	if parameter["type"] == nil || parameter["type"] == "object" {
		parameter["type"] = "string"
	}
	delete(parameter, "additionalProperties")
	if items, ok := parameter["items"].(object); ok {
		withoutObjects(items)
		delete(items, "description")
	}
}

// swaggerMember converts a member of an object and adds it to the object old.
func swaggerMember(old object, name string, value any) {
	if content, ok := value.(object); ok && name == "content" {
		for media, one := range content {
			if media == jsonType || len(content) == 1 {
				old["schema"] = swagger(one.(object)["schema"])
			}
		}
		return
	}
	converted := swagger(value)
	switch list, isList := converted.([]any); name {
	case "openapi":
		old["swagger"], old["consumes"], old["produces"] = "2.0", []string{jsonType}, slices.Sorted(maps.Keys(documents(nil)))
	case "components":
		addComponents(old, converted.(object))
	case "contentEncoding":
		old["format"] = "byte"
	case "deprecated", "explode":
	case "style":
		old["collectionFormat"] = "csv"
	case "example":
		old["x-example"] = value
	case "oneOf":
		maps.Copy(old, list[0].(object))
	case "schema": // of a parameter or a header; its own description is kept
		for name, value := range converted.(object) {
			if _, known := old[name]; !known {
				old[name] = value
			}
		}
	case "requestBody":
		old["parameters"] = []any{inBody(converted.(object))}
	case "security":
		old[name] = slices.DeleteFunc(list, func(one any) bool { return one.(object)["session"] != nil }) // in a cookie
	case "responses":
		for _, one := range value.(object) {
			if content, ok := one.(object)["content"].(object); ok && len(content) == 1 {
				old["produces"] = slices.Collect(maps.Keys(content))
			}
		}
		old[name] = converted
	case "type":
		if isList { // with null
			old["x-nullable"], converted = true, list[0]
		}
		old[name] = converted
	default:
		old[name] = converted
	}
}

// inBody completes a converted request body to a parameter.
func inBody(body object) object {
	if body["$ref"] == nil {
		body["name"], body["in"] = "body", "body"
	}
	return body
}

// addComponents adds the converted components to the document.
func addComponents(old, components object) {
	parameters := components["parameters"].(object)
	for name, body := range components["requestBodies"].(object) {
		parameters[name] = inBody(body.(object))
	}
	old["definitions"], old["parameters"], old["responses"] = components["schemas"], parameters, components["responses"]
	schemes := components["securitySchemes"].(object)
	delete(schemes, "session")
	schemes["basic"] = object{"type": "basic"}
	schemes["bearer"] = object{"type": "apiKey", "in": "header", "name": "Authorization", "description": "Bearer and an API key"}
	old["securityDefinitions"] = schemes
}
