package metadata

// Continuation returns the part after the start of an OpenAPI or Swagger document, which Servers or
// Host returns, in a document of the service: all but its opening brace. A document is stored once
// for all addresses of the service.
func Continuation(document []byte) []byte { return document[1:] }
