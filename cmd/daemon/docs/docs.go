// Package docs contains the manual of whd, which the service also serves at /docs.
package docs

import "embed"

// Files are the pages and their pictures.
//
//go:embed *.md images/*.svg
var Files embed.FS
