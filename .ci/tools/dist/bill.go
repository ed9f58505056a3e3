package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// bill is a bill of materials in CycloneDX 1.5, with the members that apply to Go programs.
type bill struct {
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string      `json:"type"`
	Ref        string      `json:"bom-ref"`
	Name       string      `json:"name"`
	Version    string      `json:"version,omitempty"`
	PURL       string      `json:"purl,omitempty"`
	Hashes     []hash      `json:"hashes,omitempty"`
	Properties []property  `json:"properties,omitempty"`
	Components []component `json:"components,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// writeBill writes the bill of materials of an archive next to it, from the build
// information of its programs.
func writeBill(archive, version string, at time.Time, members []member) error {
	name := strings.TrimSuffix(strings.TrimSuffix(path.Base(archive), ".zip"), ".tar.gz")
	b := bill{
		Format:      "CycloneDX",
		SpecVersion: "1.5",
		Version:     1,
		Metadata: metadata{
			Timestamp: at.Format(time.RFC3339),
			Component: component{Type: "application", Ref: name, Name: name, Version: version},
		},
	}
	modules := make(map[string]component)
	for _, m := range members {
		info, err := buildinfo.Read(bytes.NewReader(m.content))
		if err != nil {
			continue // not a Go program
		}
		program := component{
			Type:    "application",
			Ref:     m.name,
			Name:    m.name,
			Version: version,
			Hashes:  []hash{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(m.content))}},
		}
		b.Metadata.Component.Components = append(b.Metadata.Component.Components, program)
		b.Dependencies = append(b.Dependencies, dependency{m.name, addModules(modules, info)})
	}
	if len(modules) == 0 {
		return fmt.Errorf("%s contains no Go program", archive)
	}
	for _, ref := range slices.Sorted(maps.Keys(modules)) {
		b.Components = append(b.Components, modules[ref])
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path.Join(path.Dir(archive), name+".cdx.json"), append(text, '\n'), 0o644)
}

// addModules adds the modules of a program and returns their references.
func addModules(modules map[string]component, info *buildinfo.BuildInfo) []string {
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	components := []component{{
		Type:    "library",
		Name:    "std",
		Version: goVersion,
		PURL:    "pkg:golang/std@" + goVersion,
	}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if strings.HasPrefix(m.Path, "./") {
			continue // part of this module
		}
		c := component{
			Type:    "library",
			Name:    m.Path,
			Version: m.Version,
			PURL:    "pkg:golang/" + m.Path + "@" + url.PathEscape(m.Version),
		}
		if m.Sum != "" {
			c.Properties = []property{{"go:sum", m.Sum}}
		}
		components = append(components, c)
	}
	var refs []string
	for _, c := range components {
		c.Ref = c.PURL
		modules[c.Ref] = c
		refs = append(refs, c.Ref)
	}
	slices.Sort(refs)
	return refs
}
