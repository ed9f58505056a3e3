package daemon_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/rest"
)

const (
	// interfaceList has one name of the public interface in each line: those of the
	// last release and those added since.
	interfaceList = "testdata/interface.txt"

	// interfaceRenames has a line "OLD => NEW" for each name that was renamed, and
	// "OLD =>" for each one that was removed. OLD is the beginning of one or more
	// lines of interfaceList.
	interfaceRenames = "testdata/interface-renamed.txt"
)

// TestInterfaceNames compares every operation, request and response member,
// query parameter, setting and metric with interfaceList. A name that no longer exists
// must be listed in interfaceRenames; a new one is added by -update, which never
// removes a line.
func TestInterfaceNames(t *testing.T) {
	now := slices.Concat(openAPINames(t), metadataNames(), settingNames(), metricNames(t), infoNames())
	slices.Sort(now)
	now = slices.Compact(now)
	if goldentest.Updating() {
		all := slices.Concat(readLines(t, interfaceList), now)
		slices.Sort(all)
		err := os.WriteFile(interfaceList, []byte(strings.Join(slices.Compact(all), "\n")+"\n"), 0o644)
		if err != nil {
			t.Fatal(err)
		}
	}

	before, renames := readLines(t, interfaceList), readLines(t, interfaceRenames)
	used := make(map[string]bool)
	for _, name := range before {
		expected := name
		for _, line := range renames {
			from, to, _ := strings.Cut(line, "=>")
			if suffix, ok := strings.CutPrefix(name, strings.TrimSpace(from)); ok {
				used[line] = true
				expected = ""
				if to := strings.TrimSpace(to); to != "" {
					expected = to + suffix
				}
			}
		}
		if _, found := slices.BinarySearch(now, expected); !found && expected != "" {
			t.Errorf("%s: not found, expected as %q; a renamed or removed name needs a line in %s",
				name, expected, interfaceRenames)
		}
	}

	for _, line := range renames {
		if !used[line] {
			t.Errorf("%s: %q matches no line of %s", interfaceRenames, line, interfaceList)
		}
	}

	for _, name := range now {
		if _, found := slices.BinarySearch(before, name); !found {
			t.Errorf("%s: new; add it with -update", name)
		}
	}
}

// readLines returns the lines of a file that are neither empty nor comments.
func readLines(t *testing.T, name string) (lines []string) {
	text, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// openAPINames lists the operations of the OpenAPI document with their parameters,
// and the members of its schemas. Filters are left to metadataNames.
func openAPINames(t *testing.T) (names []string) {
	service := rest.Describe()
	var document struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Parameters map[string]struct{ Name, In string }
			Schemas    map[string]struct {
				Properties map[string]struct {
					Type any
					Ref  string `json:"$ref"`
				}
			}
			Headers, Responses, SecuritySchemes map[string]any
		}
	}

	if err := json.Unmarshal(service.OpenAPI(), &document); err != nil {
		t.Fatal(err)
	}

	for path, methods := range document.Paths {
		for method, body := range methods {
			var operation struct{ OperationID string }
			if method != "parameters" && json.Unmarshal(body, &operation) == nil {
				names = append(names, fmt.Sprintf("operation %s %s %s", strings.ToUpper(method), path,
					operation.OperationID))
			}
		}
	}

	for key, p := range document.Components.Parameters {
		if !strings.Contains(key, ".") { // those of a record kind are filters
			names = append(names, fmt.Sprintf("parameter %s %s", p.In, p.Name))
		}
	}

	for name, s := range document.Components.Schemas {
		if o, isRequest := service.Lookup(name); isRequest && o.Name == name && o.Kind != nil {
			continue
		}
		for member, m := range s.Properties {
			names = append(names, strings.TrimSpace(fmt.Sprintf("schema %s.%s %v", name, member,
				cmp.Or(m.Ref, fmt.Sprint(m.Type)))))
		}
	}

	for name := range document.Components.Responses {
		names = append(names, "response "+name)
	}

	for name := range document.Components.SecuritySchemes {
		names = append(names, "security "+name)
	}

	return names
}

// metadataNames lists the names that /metadata documents: the members of each request,
// with the suffixes of filters, and those of its response.
func metadataNames() (names []string) {
	s := rest.Describe()
	for i := range s.Operations {
		for _, o := range s.OperationDocument(&s.Operations[i], "").Operations {
			names = append(names, strings.TrimSpace(fmt.Sprintf("metadata %s (%s) %s", o.Name, o.Role, o.Answer)))
			for _, p := range o.Parameters {
				names = append(names, strings.TrimSpace(fmt.Sprintf("metadata %s request %s %s required=%v %s %s", o.Name, p.Name, p.Type, p.Required, p.Family, strings.Join(p.Suffixes, " "))))
			}
			for _, f := range o.Fields {
				names = append(names, fmt.Sprintf("metadata %s response %s %s", o.Name, f.Name, f.Type))
			}
		}
	}
	return names
}

// settingNames lists the keys of the settings.
func settingNames() (names []string) {
	for _, s := range config.Settings() {
		names = append(names, "setting "+s.Name)
	}
	return names
}

// metricNames lists the metrics of a daemon with their types and labels.
func metricNames(t *testing.T) (names []string) {
	i := daemontest.Start(t)
	get(t, i.URL+"/auth?Colour=red") // metrics of requests appear after the first request
	_, text := get(t, i.URL+"/metrics")
	for name, m := range readMetrics(text) {
		names = append(names, strings.TrimSpace(fmt.Sprintf("metric %s %s %s", name, m.kind, m.labels)))
	}
	return names
}

// infoNames lists the members of the document at /Info.
func infoNames() (names []string) {
	for _, document := range []reflect.Type{reflect.TypeFor[wire.Info](), reflect.TypeFor[wire.Limits]()} {
		for _, f := range reflect.VisibleFields(document) {
			names = append(names, fmt.Sprintf("info %s.%s", document.Name(), f.Name))
		}
	}
	return names
}
