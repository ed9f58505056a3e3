package metadata

import (
	"maps"
	"slices"
	"strings"
)

// swaggerRefs replaces the start of references.
var swaggerRefs = strings.NewReplacer("#/components/schemas/", "#/definitions/", "#/components/", "#/")

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
		if target, ok := v["$ref"].(string); ok { // no other members are allowed
			return object{"$ref": swaggerRefs.Replace(target)}
		}
		old := object{}
		if schema, ok := v["schema"].(object); ok { // of a parameter or a header
			old = swagger(schema).(object)
		}
		for name, value := range v {
			swaggerMember(old, name, value)
		}
		if items, ok := old["items"].(object); ok && old["in"] != nil {
			delete(items, "description")
		}
		return old
	}
	return v
}

// swaggerMember converts a member of an object and adds it to the object old.
func swaggerMember(old object, name string, value any) {
	switch name {
	case "openapi":
		old["swagger"], old["consumes"], old["produces"] = "2.0", []string{jsonType}, slices.Sorted(maps.Keys(documents(nil)))
	case "components":
		c := swagger(value).(object)
		old["definitions"], old["parameters"], old["responses"] = c["schemas"], c["parameters"], c["responses"]
		old["securityDefinitions"] = object{
			"basic": object{"type": "basic"}, "sessionHeader": c["securitySchemes"].(object)["sessionHeader"],
			"bearer":  object{"type": "apiKey", "in": "header", "name": "Authorization", "description": "Bearer and an API key"},
			"session": object{"type": "apiKey", "in": "header", "name": "Cookie"},
		}
	case "requestBody":
		body := value.(object)
		schema := body["content"].(object)[jsonType].(object)["schema"]
		old["parameters"] = []any{object{"name": "body", "in": "body", "required": body["required"], "schema": swagger(schema)}}
	case "responses":
		for _, one := range value.(object) {
			if content, ok := one.(object)["content"].(object); ok && content[jsonType] == nil {
				old["produces"] = slices.Collect(maps.Keys(content))
			}
		}
		old[name] = swagger(value)
	case "content":
		old["schema"] = object{"type": "string"}
		if media, ok := value.(object)[jsonType].(object); ok {
			old["schema"] = swagger(media["schema"])
		}
	case "parameters":
		switch all := value.(type) {
		case object:
			value = maps.Clone(all)
			maps.DeleteFunc(value.(object), func(name string, _ any) bool { return strings.HasSuffix(name, compactSuffix) })
		case []any:
			value = slices.DeleteFunc(slices.Clone(all), func(one any) bool {
				target, _ := one.(object)["$ref"].(string)
				return strings.HasSuffix(target, compactSuffix)
			})
		}
		old[name] = swagger(value)
	case "contentEncoding":
		old["format"] = "byte"
	case "example":
		if value != "" {
			old["x-example"] = value
		}
	case "type":
		if types, several := value.([]any); several {
			value = types[0]
		}
		old[name] = value
	case "deprecated", "explode", "style", "schema":
	default:
		old[name] = swagger(value)
	}
}
