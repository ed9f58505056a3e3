package metadata

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// Kinds returns the kinds of a registry that a caller may read.
func Kinds(r *record.Registry, readable func(*record.Kind) bool) []wire.RecordKind {
	kinds := make([]wire.RecordKind, 0, len(r.Kinds()))
	for _, k := range r.Kinds() {
		if !readable(k) {
			continue
		}
		described := wire.RecordKind{
			Name:      k.Name,
			Operation: k.Operation(),
			Area:      k.Area,
			Summary:   k.Summary,
			Key:       k.Key,
			Role:      k.Role,
			Fields:    make([]wire.OperationField, len(k.Fields)),
		}
		for i, f := range k.Fields {
			described.Fields[i] = wire.OperationField{Name: f.Name, Type: f.TypeName()}
		}
		kinds = append(kinds, described)
	}
	return kinds
}

// ETag returns the tag of a document in any format, which changes with the document.
func ETag(document any) (string, error) {
	text, err := json.Marshal(document)
	sum := sha256.Sum256(text)
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, err
}
