// Command whd is a daemon that serves the records of a business management system
// over HTTP and delivers webhooks. `whd help` lists its commands.
package main

import (
	"os"

	"github.com/bizhook/whd/cmd/daemon/whd"
)

func main() {
	keepFilesPrivate()
	os.Exit(whd.Main(whd.NewProcess(os.Args[1:])))
}
