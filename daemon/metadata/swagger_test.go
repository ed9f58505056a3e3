package metadata

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
)

// TestSwaggerOfKeywords converts kinds with names that are keywords of OpenAPI.
func TestSwaggerOfKeywords(t *testing.T) {
	names := []string{
		"style", "explode", "schema", "type", "example", "content",
		"deprecated", "contentEncoding", "openapi",
	}
	var kinds []record.Kind
	for _, name := range names {
		kinds = append(kinds, record.Kind{
			Name:   name,
			Fields: []record.Field{{Name: "Saved", Type: record.Bytes}},
		})
	}

	registry, err := record.NewRegistry(kinds...)
	if err != nil {
		t.Fatal(err)
	}

	s := &Service{}
	for _, kind := range registry.Kinds() {
		route := Route{Methods: []string{"GET"}, Path: "/Queries/" + kind.Name}
		s.Operations = append(s.Operations, Operation{
			Name:   kind.Name + "Query",
			Kind:   kind,
			Routes: []Route{route},
		})
	}

	var document struct {
		Definitions map[string]struct {
			Properties map[string]map[string]any
		}
	}
	if err := json.Unmarshal(s.Swagger(), &document); err != nil {
		t.Fatal(err)
	}

	for _, name := range names {
		if got := document.Definitions[name].Properties["Saved"]["format"]; got != "byte" {
			t.Errorf("the definition of the kind %s has the format %v of Saved, want byte", name, got)
		}
	}
}

// TestSwaggerOfBodyAndParameters converts a query on the path of another operation. Its methods
// have parameters of their own and a body.
func TestSwaggerOfBodyAndParameters(t *testing.T) {
	s := shop(t)
	s.Operations = append(s.Operations, Operation{
		Name:   "DropParcels",
		Routes: []Route{{Methods: []string{"DELETE"}, Path: "/Queries/Parcels"}},
	})
	var document struct {
		Paths map[string]struct {
			Post struct {
				Parameters []map[string]any
			}
		}
	}
	if err := json.Unmarshal(s.Swagger(), &document); err != nil {
		t.Fatal(err)
	}
	parameters := document.Paths["/Queries/Parcels"].Post.Parameters
	if len(parameters) < 2 {
		t.Fatalf("POST /Queries/Parcels has the parameters %v, want references and the body", parameters)
	}
	last := parameters[len(parameters)-1]
	if last["in"] != "body" {
		t.Errorf("the last parameter of POST /Queries/Parcels is %v, want the body", last)
	}
	first := parameters[:len(parameters)-1]
	if slices.ContainsFunc(first, func(p map[string]any) bool { return p["in"] == "body" }) {
		t.Errorf("POST /Queries/Parcels has the parameters %v, want one body", parameters)
	}
}

// TestSwaggerOfMediaTypes lists the media types of responses without JSON in order.
func TestSwaggerOfMediaTypes(t *testing.T) {
	content := object{"text/html": object{}, "application/pdf": object{}, "text/csv": object{}}
	responses := object{"200": object{"content": content}, "201": object{"content": content}}
	want := []string{"application/pdf", "text/csv", "text/html"}
	for range 20 {
		if got := otherTypes(responses); !slices.Equal(got, want) {
			t.Fatalf("the media types of %v are %v, want %v", responses, got, want)
		}
	}
}
