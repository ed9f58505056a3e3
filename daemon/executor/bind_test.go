package executor

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

func TestListText(t *testing.T) {
	texts := func(list ...string) (values []wire.Value) {
		for _, text := range list {
			values = append(values, wire.Value{Text: text})
		}
		return values
	}
	for _, c := range []struct {
		typ    record.Type
		values []wire.Value
		want   string
	}{
		{record.Text, texts("a", "b  ", "é", "日本語"), `["a","b","é","日本語"]`},
		{record.Int, []wire.Value{{Int: 1}, {Int: -2}}, `["1","-2"]`},
		{record.Decimal, texts("1.50"), `["1.50"]`},
	} {
		if got := string(listText(c.typ, c.values)); got != c.want {
			t.Errorf("the text of the list %v of %v is %s, want %s", c.values, c.typ, got, c.want)
		}
	}
}
