package client

import "net/http"

// RequestCompression makes a client request compression although its service is local, as those
// of tests are.
func RequestCompression(c *Client) {
	c.http.GetClient().Transport.(*http.Transport).DisableCompression = false
}
