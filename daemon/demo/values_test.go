package demo

import (
	"bytes"
	"fmt"
	picture "image/png"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/kinds"
)

// TestValuesFit parses every value from its text.
func TestValuesFit(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind *record.Kind) {
		for n, cells := range allRows()[kind.Name] {
			for i, f := range kind.Fields {
				if err := checkValue(f, cells[i]); err != nil {
					t.Fatalf("row %d, %s, %.80q: %v", n, f.Name, fmt.Sprint(cells[i]), err)
				}
			}
		}
	})
}

// checkValue returns an error unless a cell is a value of a field.
func checkValue(f record.Field, cell any) error {
	if cell == nil {
		if f.Null == record.NotNull {
			return fmt.Errorf("null in a field that is not nullable")
		}
		return nil
	}
	switch {
	case f.Type == record.Bytes:
		if _, ok := cell.([]byte); !ok {
			return fmt.Errorf("is a %T", cell)
		}
	case f.Type.Integer() || f.Type == record.Bool:
		n, ok := cell.(int64)
		if !ok {
			return fmt.Errorf("is a %T", cell)
		}
		got, err := wire.ParseValue(f.Type, fmt.Sprint(n), time.UTC)
		if err != nil || got.Int != n {
			return fmt.Errorf("reads as %d, %v", got.Int, err)
		}
	default:
		text, ok := cell.(string)
		if !ok {
			return fmt.Errorf("is a %T", cell)
		}
		got, err := wire.ParseValue(f.Type, text, time.UTC)
		if err != nil || got.Text != text {
			return fmt.Errorf("reads as %q, %v", got.Text, err)
		}
		if text != strings.ToValidUTF8(text, "") || strings.Contains(text, "\x00") {
			return fmt.Errorf("not a text")
		}
	}
	return nil
}

// TestFirstColumnUnique checks the first column, by which paging breaks ties, for
// duplicates. INMGT020POQty has each item once per warehouse.
func TestFirstColumnUnique(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind *record.Kind) {
		seen := make(map[string]bool)
		for _, cells := range allRows()[kind.Name] {
			id, ok := cells[0].(string)
			if kind.Name == "INMGT020POQty" {
				id += fmt.Sprint(cells[5])
			}
			id = strings.ToUpper(id)
			if !ok || id == "" || seen[id] {
				t.Fatalf("%v is duplicated or missing", cells[0])
			}
			seen[id] = true
		}
	})
}

// TestReferences checks all foreign keys.
func TestReferences(t *testing.T) {
	for _, c := range []struct {
		kind, field string
		to          list
	}{
		{"CR_BatchTransDocuments", "CR_BatchTrans_ReceiptID", receipts},
		{"CR_BatchTransDocuments", "DocumentTypeID", documentTypes},
		{"CR_BatchTransDocuments", "LastSavedByStaffID", staff},
		{"IN_KitStockTakeMain", "StaffID", staff},
		{"IN_KitStockTakeMain", "IN_LogicalID", warehouses},
		{"BM_InputCustomFields", "SY_Plugin_RecID", plugins},
		{"IN_BinLocationLookupCustomValues", "IN_BinLocationLookup_RecID", bins},
		{"IN_BinLocationLookupCustomValues", "IN_BinLocationLookupCustomFields_RecID", binFields},
		{"CR_Classification", "LedgerIDCreditorControl", ledgers},
		{"CR_Classification", "LedgerIDCreditorUnRealisedGainLoss", ledgers},
		{"CR_Classification", "PO_Workflows_RecID", workflows},
		{"JB_EstimateResourceLines", "JB_JobStages_RecID", jobStages},
		{"JB_EstimateResourceLines", "JB_Resources_RecID", jobResources},
		{"JB_EstimateResourceLines", "HR_Staff_RecID", staff},
		{"JB_EstimateResourceLines", "JB_EstimateLines_RecID", estimateLines},
		{"BM_Inputs", "BM_Stages_RecID", billStages},
		{"BM_Inputs", "InventoryID", items},
		{"BM_Inputs", "SubAssembly", bills},
		{"INMGT020POQty", "InventoryID", items},
		{"INMGT020POQty", "IN_LogicalID", warehouses},
		{"SM_LabourLineCustomValues", "LabourID", labourLines},
		{"SM_LabourLineCustomValues", "FieldID", labourFields},
		{"IN_Colours", "StyleID", styles},
		{"IN_ProductAvailability", "InventoryID", items},
		{"IN_ProductAvailability", "LogicalID", warehouses},
	} {
		t.Run(c.kind+"."+c.field, func(t *testing.T) {
			ids := make(map[any]bool)
			for n := range c.to.size {
				ids[c.to.at(n)] = true
			}
			if len(ids) != c.to.size {
				t.Errorf("%s has %d different ids, want %d", c.to.table, len(ids), c.to.size)
			}
			used := make(map[any]bool)
			for _, id := range column(t, c.kind, c.field) {
				if id != nil && id != "" && !ids[id] {
					t.Fatalf("%v is not in %s", id, c.to.table)
				}
				used[id] = true
			}
			if len(used) < c.to.size/3 {
				t.Errorf("only %d of %d are referenced", len(used), c.to.size)
			}
		})
	}
}

// column returns all values of a field.
func column(t *testing.T, kind, field string) []any {
	t.Helper()
	k, ok := record.Builtin().Lookup(kind)
	if !ok {
		t.Fatalf("no kind %s", kind)
	}
	i, ok := k.Column(field)
	if !ok {
		t.Fatalf("no field %s", field)
	}
	var values []any
	for _, cells := range allRows()[k.Name] {
		values = append(values, cells[i])
	}
	return values
}

// filled are the nullable fields, other than the first ones, that have a value in each row, as
// the ERP writes them.
var filled = []string{
	"CR_BatchTransDocuments.FileBinary",
	"CR_BatchTransDocuments.Description",
	"CR_BatchTransDocuments.PhysicalFileName",
	"IN_KitStockTakeMain.KitStockTakeNo",
	"BM_InputCustomFields.SettingName",
	"BM_InputCustomFields.SettingDescription",
	"CR_Classification.Description",
	"JB_EstimateResourceLines.RowHash",
	"JB_EstimateResourceLines.Units",
	"BM_Inputs.RowHash",
	"SY_Filters.FilterString",
	"SY_Filters.Name",
	"IN_Colours.Description",
	"IN_Colours.ColourCode",
}

// TestNulls checks that every nullable field has both nulls and values, apart from those that
// the ERP always fills, and that the first columns are not null.
func TestNulls(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind *record.Kind) {
		nulls := make([]int, len(kind.Fields))
		for _, cells := range allRows()[kind.Name] {
			for i, v := range cells {
				if v == nil {
					nulls[i]++
				}
			}
		}
		for i, f := range kind.Fields {
			name := kind.Name + "." + f.Name
			gotNulls := nulls[i] > 0
			wantNulls := f.Null == record.Nullable && i > 0 && !slices.Contains(filled, name)
			onlyNulls := nulls[i] == Count(kind.Name)
			if gotNulls != wantNulls || onlyNulls {
				t.Errorf("%s has %d nulls in %d rows, want nulls: %t",
					name, nulls[i], Count(kind.Name), wantNulls)
			}
		}
	})
}

// TestExtremes checks that every extreme value occurs in a field of its type.
func TestExtremes(t *testing.T) {
	seen := make(map[string]bool)
	for _, cells := range allRows()[extremesKind] {
		for i, f := range Extremes().Fields {
			seen[f.Type.String()+formatRow(cells[i:i+1])] = true
		}
	}
	for _, c := range []struct {
		kind   record.Type
		values []any
	}{
		{record.Text, texts},
		{record.DateTime, dates},
		{record.Decimal, decimals},
		{record.Decimal, sums},
		{record.Int, ints},
		{record.Short, shorts},
		{record.Byte, octets},
		{record.Bytes, blobs},
		{record.Bytes, hashes},
	} {
		for _, v := range c.values {
			if !seen[c.kind.String()+formatRow([]any{v})] {
				t.Errorf("no %s has the value %.60q", c.kind, fmt.Sprint(v))
			}
		}
	}
}

// TestExtremesFile checks that extremes.toml describes the kind Extremes.
func TestExtremesFile(t *testing.T) {
	set := kinds.Load("extremes.toml")
	kind, ok := set.Registry().Lookup(extremesKind)
	if !ok || len(set.Problems) > 0 {
		t.Fatalf("extremes.toml has no kind %s: %v", extremesKind, set.Problems)
	}
	want := Extremes()
	if kind.Summary != want.Summary || kind.Area != want.Area {
		t.Errorf("extremes.toml has the summary %q and the area %q, want %q and %q",
			kind.Summary, kind.Area, want.Summary, want.Area)
	}
	if !slices.Equal(kind.Key, want.Key) {
		t.Errorf("extremes.toml has the key %q, want %q", kind.Key, want.Key)
	}
	if !slices.Equal(kind.Fields, want.Fields) {
		t.Errorf("extremes.toml has the fields\n%v\nwant\n%v", kind.Fields, want.Fields)
	}
}

// TestOrdinaryValues checks that the values of all other kinds are those of an ERP: amounts of
// this size, and dates of the last years.
func TestOrdinaryValues(t *testing.T) {
	for _, kind := range record.Builtin().Kinds() {
		for n, cells := range allRows()[kind.Name] {
			for i, f := range kind.Fields {
				text, _ := cells[i].(string)
				if text == "" {
					continue
				}
				if err := checkOrdinary(f.Type, text); err != nil {
					t.Errorf("%s.%s in row %d: %v", kind.Name, f.Name, n, err)
				}
			}
		}
	}
}

// checkOrdinary returns an error for a number or a date that an ERP would not have.
func checkOrdinary(kind record.Type, text string) error {
	const earliest, latest = "2019-01-01", "2026-12-01"
	limit := big.NewRat(100_000, 1)
	switch kind {
	case record.Decimal:
		amount, ok := new(big.Rat).SetString(text)
		if ok && amount.Abs(amount).Cmp(limit) >= 0 {
			return fmt.Errorf("is %s, want less than %s", text, limit.RatString())
		}
	case record.DateTime:
		if text < earliest || text > latest {
			return fmt.Errorf("is %s, want a date from %s to %s", text, earliest, latest)
		}
	}
	return nil
}

// TestBoundaries checks that the lists contain the limits of the types.
func TestBoundaries(t *testing.T) {
	for _, c := range []struct {
		kind   record.Type
		values []any
	}{
		{record.Int, ints}, {record.Short, shorts}, {record.Byte, octets},
	} {
		lo, hi := c.kind.Range()
		has := make(map[any]bool)
		for _, v := range c.values {
			has[v] = true
		}
		if !has[lo] || !has[hi] || !has[int64(0)] {
			t.Errorf("%s lacks %d, %d or 0", c.kind, lo, hi)
		}
	}
}

// TestDocuments checks that the content of attached files matches their names.
func TestDocuments(t *testing.T) {
	names := column(t, "CR_BatchTransDocuments", "PhysicalFileName")
	contents := column(t, "CR_BatchTransDocuments", "FileBinary")
	heads := map[string]string{
		".pdf": "%PDF-1.4\n",
		".png": "\x89PNG\r\n\x1a\n",
		".csv": "Payee,",
		".txt": "Packing slip",
	}
	for n := range Count("CR_BatchTransDocuments") {
		file := contents[n].([]byte)
		extension := strings.ToLower(filepath.Ext(names[n].(string)))
		head, ok := heads[extension]
		if !ok || !bytes.HasPrefix(file, []byte(head)) {
			t.Fatalf("%s starts with %.20q, want %q", names[n], file, head)
		}
		switch extension {
		case ".pdf":
			checkPDF(t, file)
		case ".png":
			if _, err := picture.Decode(bytes.NewReader(file)); err != nil {
				t.Fatalf("%s: %v", names[n], err)
			}
		}
	}
}

// checkPDF checks the offsets of all objects in the document's cross-reference table.
func checkPDF(t *testing.T, file []byte) {
	t.Helper()
	end := bytes.LastIndex(file, []byte("startxref\n"))
	var index, first, size int
	if _, err := fmt.Sscanf(string(file[end:]), "startxref\n%d\n%%%%EOF", &index); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(string(file[index:]), "xref\n%d %d\n", &first, &size); err != nil {
		t.Fatal(err)
	}
	const entrySize = 20
	start := index + bytes.Index(file[index:], []byte("0000000000 65535 f"))
	entries := file[start:]
	for n := 1; n < size; n++ {
		entry := entries[entrySize*n:]
		offset, err := strconv.Atoi(string(entry[:10]))
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%d 0 obj", n); !bytes.HasPrefix(file[offset:], []byte(want)) {
			t.Fatalf("at the offset %d of object %d there is %.10q, want %q",
				offset, n, file[offset:], want)
		}
	}
}
