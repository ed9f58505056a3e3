// Package clientstest finds and installs the programs of third parties that tests run:
// interpreters, compilers and client libraries. Tests that need them are run by
// `make clients`, where a missing program is a failure.
package clientstest

import (
	"embed"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// Variable is set by make clients.
const Variable = "WHD_TEST_CLIENTS"

// Wanted reports whether missing programs are failures.
func Wanted() bool { return os.Getenv(Variable) != "" }

// Tool finds a program. If it is not installed, the test is skipped; under make clients it fails.
func Tool(t testing.TB, name string) (path string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		// Where Debian installs servers, which PATH of ordinary users lacks.
		path, err = exec.LookPath("/usr/sbin/" + name)
	}
	if err != nil && Wanted() {
		t.Fatalf("make clients needs %s: %v", name, err)
	}
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

// FileURL returns the URL of a file or directory; its path may contain blanks.
func FileURL(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

//go:embed testdata
var manifests embed.FS

// NodeModules installs libraries for Node.js in the versions of a lock file, and
// returns the directory that has node_modules. The lock file is in a directory of testdata; "." has
// the libraries of most tests. Except under make clients the test is skipped, since it needs the
// network or npm's cache.
func NodeModules(t testing.TB, lockDir string) (dir string) {
	t.Helper()
	if !Wanted() {
		t.Skip("make clients runs this test: it installs libraries by npm")
	}
	Tool(t, "node")
	npm := Tool(t, "npm")
	dir = t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		copyManifest(t, path.Join("testdata", lockDir, name), filepath.Join(dir, name))
	}
	cmd := exec.CommandContext(t.Context(), npm, "ci", "--ignore-scripts", "--prefer-offline",
		"--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	return dir
}

// GoModule makes a module with the Go tools and libraries of a directory of testdata. The files
// have other names there, since a directory with go.mod would be no part of this module. Except
// under make clients the test is skipped, since it needs the network or the cache of modules.
func GoModule(t testing.TB, source string) (dir string) {
	t.Helper()
	if !Wanted() {
		t.Skip("make clients runs this test: it needs the modules of third-party programs")
	}
	Tool(t, "go")
	dir = t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		copyManifest(t, path.Join("testdata", source, name+".txt"), filepath.Join(dir, name))
	}
	return dir
}

// copyManifest writes an embedded file to a directory.
func copyManifest(t testing.TB, source, target string) {
	t.Helper()
	text, err := manifests.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(target, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The configuration of odata2ts. A bundled file would take minutes for hundreds of types.
const odataConfig = `module.exports = {
	bundledFileGeneration: false,
	services: { Whd: { source: 'metadata.xml', output: 'generated', serviceName: 'Whd' } },
};`

const typeScriptConfig = `{"compilerOptions": {
	"target": "es2022",
	"module": "commonjs",
	"moduleResolution": "node10",
	"strict": true,
	"types": []
}}`

// CheckMetadata validates a metadata document of OData against the schemas of OASIS, and
// generates code from it with odata2ts into the directory generated: mode is all for a client.
// tools has the libraries of odata.
func CheckMetadata(t testing.TB, tools, metadata, mode string) {
	t.Helper()
	for name, text := range map[string]string{
		"metadata.xml":       metadata,
		"package.json":       `{"type":"commonjs"}`,
		"odata2ts.config.js": odataConfig,
		"tsconfig.json":      typeScriptConfig,
	} {
		if err := os.WriteFile(filepath.Join(tools, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = tools
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run(Tool(t, "xmllint"), "--noout", "--nonet", "--schema",
		filepath.Join("node_modules", "odata-csdl", "schemas", "edmx.xsd"), "metadata.xml")
	out := run(filepath.Join("node_modules", ".bin", "odata2ts"), "--mode", mode, "--emit-mode", "js")
	hasWarning := strings.Contains(strings.ToLower(out), "warn")
	if hasWarning || !strings.Contains(out, "Successfully finished!") {
		t.Errorf("odata2ts printed %s, want success without warnings", out)
	}
}
