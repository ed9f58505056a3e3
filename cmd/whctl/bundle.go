package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// secretVariables are those of which not even the beginning is told.
var secretVariables = []string{profile.EnvToken, profile.EnvPassword}

// bundle writes what was found out, and what it was found out from, into a zip.
// Everything in it is redacted, whatever it is.
func (d *patient) bundle(path string) error {
	files := []struct {
		name    string
		content any
	}{
		{"findings.json", d.found},
		{"version.json", map[string]string{"whctl": versionText(), "go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH}},
		{"settings.json", d.settingsTold()},
		{"environment.json", d.environment()},
		{"service.json", d.info},
		{"service-settings.json", d.serviceSettings()},
		{"stats.json", d.stats()},
	}
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, f := range files {
		text, err := json.MarshalIndent(f.content, "", "  ")
		if err != nil {
			return err
		}
		w, err := archive.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: d.now()})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, client.Redact(string(text))); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return output.ReplaceFile(path, packed.Bytes(), output.PrivateFile)
}

// settingsTold are the settings in force, each with where that was said.
func (d *patient) settingsTold() map[string][2]string {
	all := make(map[string][2]string)
	if d.settings != nil {
		for name, value := range d.settings.Values {
			all[name] = [2]string{value.Text, value.Origin}
		}
	}
	return all
}

// environment are the variables that are read, those of secrets without value.
func (d *patient) environment() map[string]string {
	all := make(map[string]string)
	for _, v := range append(profile.Variables(), profile.Variable{Name: "TERM, LANG, LC_ALL, LC_CTYPE, SSH_TTY, TMUX, STY"}) {
		for name := range strings.SplitSeq(v.Name, ", ") {
			text := d.env(name)
			if text != "" && slices.Contains(secretVariables, name) {
				text = "***"
			}
			if text != "" {
				all[name] = text
			}
		}
	}
	return all
}

var errNotAsked = errors.New("not asked: it takes the role admin")

// serviceSettings are what the service tells of its settings, or why it does
// not.
func (d *patient) serviceSettings() any {
	if !d.admin {
		return errNotAsked.Error()
	}
	settings, err := d.service.Settings(d.c.Context)
	if err != nil {
		return err.Error()
	}
	return settings
}

func (d *patient) stats() any {
	if !d.admin {
		return errNotAsked.Error()
	}
	stats, err := d.service.Stats(d.c.Context, 0)
	if err != nil {
		return err.Error()
	}
	for i := range stats.Lanes {
		stats.Lanes[i].URL = hostOf(stats.Lanes[i].URL)
	}
	return stats
}

// hostOf is an address without its path and query, which may be the key to it.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "***"
	}
	return u.Scheme + "://" + u.Host
}
