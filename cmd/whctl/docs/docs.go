// Package docs contains the manual of whctl, which the service serves at /docs/whctl.
package docs

import "embed"

// Files are the pages.
//
//go:embed *.md
var Files embed.FS
