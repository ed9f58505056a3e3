package rest

import (
	"net/http"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/manual"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// serviceOperations are the operations on the service itself.
func serviceOperations(h *handlers) []operation {
	return []operation{
		{
			name:     "Info",
			group:    groupService,
			summary:  "Version, time, features and limits of the service",
			response: wire.Info{},
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/Info", Serve: h.info.show},
			},
		},
		{
			name:     "Settings",
			group:    groupService,
			role:     account.Admin,
			summary:  "The settings that may change while the service runs",
			response: []wire.Setting{},
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/Settings", Serve: h.info.listSettings},
			},
		},
		{
			name:     "SystemInfo",
			group:    groupService,
			role:     account.Reader,
			summary:  "The version of the ERP's interface, and the time of the service",
			response: wire.SystemInfo{},
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/SystemInfo", Serve: h.info.system},
			},
		},
		{
			name:     "RestPaths",
			group:    groupService,
			summary:  "The paths of the operations",
			response: []wire.RestPath{},
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/RestPaths", Serve: h.documents.restPaths},
			},
		},
		{
			name:    "Home",
			group:   groupService,
			summary: "Redirect browsers to the start page",
			media:   "text/html",
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/", Status: http.StatusFound, Serve: h.documents.home},
				{
					Methods: "GET",
					Pattern: "/swagger-ui",
					Status:  http.StatusFound,
					Serve:   redirect("/metadata"),
					Summary: "Redirect to the list of operations",
				},
				{
					Methods: "GET",
					Pattern: "/requestlogs",
					Status:  http.StatusFound,
					Serve:   redirect("/Logs"),
					Summary: "Redirect to the request log",
				},
			},
		},
		{
			name:     "GetMetadata",
			group:    groupService,
			summary:  "The operations of the service",
			response: wire.Metadata{},
			members: []metadata.Member{
				{Name: memberOperation, Type: "string", Help: "name of an operation to describe in full"},
			},
			routes: []edge.Route{
				{
					Methods: "GET",
					Pattern: "/metadata",
					Serve:   h.documents.metadata,
					Summary: "The operations of the service; with op, the full description of one operation",
				},
				{
					Methods: "GET",
					Pattern: "/{Format}/metadata",
					Serve:   h.documents.metadata,
					Summary: "The same; browsers always get an HTML page",
				},
			},
		},
		{
			name:    manualOperation,
			group:   groupService,
			summary: "The manual, as web pages",
			media:   "text/html",
			members: []metadata.Member{
				{Name: memberWords, Type: "string", Help: "words to search for in titles and headings"},
				{Name: paramPage, Type: "string", Help: "name of a page, such as errors"},
				{Name: paramPicture, Type: "string", Help: "name of a picture"},
			},
			routes: []edge.Route{
				{
					Methods: "GET",
					Pattern: manual.Path,
					Serve:   h.manual.contents,
					Summary: "The contents of the manual, or with q the result of a search",
				},
				{
					Methods: "GET",
					Pattern: manual.Path + "/{" + paramPage + "}",
					Serve:   h.manual.page(""),
					Summary: "A page of the manual of whd",
				},
				{
					Methods: "GET",
					Pattern: manual.Path + "/" + manual.ClientFolder + "/{" + paramPage + "}",
					Serve:   h.manual.page("/" + manual.ClientFolder),
					Summary: "A page of the manual of whctl",
				},
				{
					Methods: "GET",
					Pattern: manual.Path + "/images/{" + paramPicture + "}",
					Serve:   h.manual.picture,
					Summary: "A picture of the manual",
				},
			},
		},
		{
			name:    "OpenAPI",
			group:   groupService,
			summary: "The OpenAPI 3.1 document of the service",
			media:   "application/json",
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/openapi.json", Serve: h.documents.openAPI},
				{
					Methods: "GET",
					Pattern: "/openapi",
					Serve:   h.documents.swagger,
					Summary: "The same in OpenAPI 2.0 (Swagger)",
				},
			},
		},
		{
			name:     "Kinds",
			group:    groupService,
			role:     account.Reader,
			summary:  "The record kinds that the caller may read, with their fields",
			response: []wire.RecordKind{},
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/Kinds", Serve: h.documents.kinds},
			},
		},
		{
			name:    MCPOperation,
			group:   groupService,
			role:    account.Reader,
			summary: "Tools for assistants: the Model Context Protocol",
			media:   "application/json",
			routes: []edge.Route{
				{
					Methods: "POST",
					Pattern: "/mcp",
					Changes: true,
					Serve:   h.assistant.serve,
					Summary: "Tools for assistants: the Model Context Protocol, if mcp.enabled is set",
				},
			},
		},
		{
			name:     "Types",
			group:    groupService,
			summary:  "The languages of types for client programs",
			response: []wire.TypesFile{},
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/types", Serve: h.documents.languages},
			},
		},
		{
			name:    "Health",
			group:   groupService,
			summary: "Liveness check: whether the process responds",
			media:   "text/plain",
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/healthz", Always: true, Serve: h.health.alive},
			},
		},
		{
			name:    "Ready",
			group:   groupService,
			summary: "Readiness check: whether the service can handle requests",
			media:   "text/plain",
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/readyz", Always: true, Serve: h.health.ready},
			},
		},
		{
			name:    "Metrics",
			group:   groupService,
			summary: "Metrics for Prometheus",
			media:   "text/plain",
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/metrics", Always: true, Serve: h.health.metricsPage},
			},
		},
	}
}

// typesOperations are the operations that return the types of one language.
func typesOperations(h *handlers) []operation {
	var operations []operation
	for _, l := range metadata.Languages() {
		operations = append(operations, operation{
			name:    l.Operation,
			group:   groupService,
			summary: l.Summary,
			media:   "text/plain",
			members: []metadata.Member{
				{Name: memberNamespace, Type: "string", Help: "namespace of the classes"},
			},
			routes: []edge.Route{
				{Methods: "GET", Pattern: typesPath + l.Name, Serve: h.documents.types(l)},
			},
		})
	}
	return operations
}
