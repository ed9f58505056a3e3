package doctor

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// secretVariables has the environment variables with masked values.
var secretVariables = []string{profile.EnvToken, profile.EnvPassword}

// bundleFile is a file in a bundle, which has a document as JSON.
type bundleFile struct {
	name     string
	document any
}

// Bundle writes the results, settings and service information to a zip file. All
// files are redacted.
func (d *Diagnosis) Bundle(path string) error {
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, f := range d.bundleFiles() {
		text, err := json.MarshalIndent(f.document, "", "  ")
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: d.now()}
		w, err := archive.CreateHeader(header)
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

// bundleFiles returns the files of a bundle, before secrets are redacted.
func (d *Diagnosis) bundleFiles() []bundleFile {
	versions := map[string]string{
		"whctl":  d.connector.Version,
		"go":     runtime.Version(),
		"system": runtime.GOOS + "/" + runtime.GOARCH,
	}
	return []bundleFile{
		{"findings.json", d.findings()},
		{"version.json", versions},
		{"settings.json", d.effectiveSettings()},
		{"environment.json", d.environment()},
		{"service.json", d.info},
		{"service-settings.json", adminOnly(d, d.serviceSettings)},
		{"stats.json", adminOnly(d, d.stats)},
	}
}

// effectiveSettings returns the texts and sources of the settings.
func (d *Diagnosis) effectiveSettings() map[string][2]string {
	settings := make(map[string][2]string)
	if d.settings != nil {
		for name, value := range d.settings.Values {
			settings[name] = [2]string{value.Text, value.Origin}
		}
	}
	return settings
}

// environment returns the environment variables that are set, with secrets masked.
func (d *Diagnosis) environment() map[string]string {
	variables := make(map[string]string)
	terminal := profile.Variable{Name: "TERM, LANG, LC_ALL, LC_CTYPE, SSH_TTY, TMUX, STY"}
	for _, v := range append(profile.Variables(), terminal) {
		// Some entries name several variables.
		for name := range strings.SplitSeq(v.Name, ", ") {
			text := d.connector.Env(name)
			if text != "" && slices.Contains(secretVariables, name) {
				text = "***"
			}
			if text != "" {
				variables[name] = text
			}
		}
	}
	return variables
}

// adminOnly returns the reply to a request that needs the role admin, or the reason
// why there is none.
func adminOnly[T any](d *Diagnosis, get func() (T, error)) any {
	if !d.admin {
		return "not requested: needs the role admin"
	}
	reply, err := get()
	if err != nil {
		return err.Error()
	}
	return reply
}

func (d *Diagnosis) serviceSettings() ([]wire.Setting, error) {
	return d.service.Settings(d.c.Context)
}

// stats returns the statistics of the service without the paths of endpoints.
func (d *Diagnosis) stats() (*wire.Stats, error) {
	stats, err := d.service.Stats(d.c.Context, 0)
	if err != nil {
		return nil, err
	}
	for i := range stats.Queues {
		stats.Queues[i].URL = hostOf(stats.Queues[i].URL)
	}
	stats.Lanes = nil // the same queues, with complete URLs
	return stats, nil
}

// hostOf returns an address without its path and query, which can contain secrets.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "***"
	}
	return u.Scheme + "://" + u.Host
}
