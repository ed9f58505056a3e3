package demo

import "fmt"

// Group sizes: numbers of consecutive rows with the same parent.
var (
	receiptSizes  = []int{1, 3, 2, 1, 4, 1, 2}
	stageSizes    = []int{4, 6, 3, 5, 8, 4}
	estimateSizes = []int{5, 2, 7, 3, 4, 4}
	screenSizes   = []int{12, 3, 9, 8}
	colourSizes   = []int{8}
)

// business defines how each field of each kind is generated, and its extreme values.
var business = []table{
	{"CR_BatchTransDocuments", 2400, []field{
		{"RecID", key(recID, migratedRecID), nil},
		{"CR_BatchTrans_ReceiptID", optional(2, parent(receipts, receiptSizes)), nil},
		{"DocumentTypeID", optional(3, func(r row) any { return documentTypes.at(documentOf(r).sort) }), nil},
		{"LastSavedDateTime", savedExactly, dates},
		{"LastSavedByStaffID", optional(1, memberOf(staff)), nil},
		{"FileBinary", documentContents, blobs},
		{"Description", blank(4, func(r row) any { return documentOf(r).title }), texts},
		{"PhysicalFileName", func(r row) any { return documentOf(r).file }, texts},
		{"ItemNo", line(receiptSizes), ints},
	}},
	{"IN_KitStockTakeMain", 600, []field{
		{"KitStockTakeID", key(serialID, migratedRecID), nil},
		{"KitStockTakeNo", numbered("KST-%06d"), texts},
		{"KitStockTakeNotes", optional(30, phrase(stockTakeNotes)), texts},
		{"KitStockTakeStatus", optional(10, randomBool(80)), nil},
		{"KitStockTakeDate", day, dates},
		{"StaffID", optional(2, memberOf(staff)), nil},
		{"IN_LogicalID", optional(2, memberOf(warehouses)), nil},
		{"LastSavedDateTime", saved, dates},
	}},
	{"BM_InputCustomFields", 60, []field{
		{"RecID", key(guidID, migratedGUID), nil},
		{"SettingName", func(r row) any { return setting(r).name }, texts},
		{"SettingDescription", blank(10, func(r row) any { return setting(r).description }), texts},
		{"CellType", optional(5, func(r row) any { return setting(r).cell }), ints},
		{"FieldParameter", func(r row) any { return setting(r).parameter }, texts},
		{"SY_Plugin_RecID", memberOf(plugins), nil},
		{"LastSavedDateTime", saved, dates},
		{"DisplayOrder", optional(10, number(1, 40)), ints},
	}},
	{"IN_BinLocationLookupCustomValues", 3600, []field{
		{"RecID", key(recID, migratedRecID), nil},
		{"IN_BinLocationLookup_RecID", optional(1, customOwner(bins, binContents)), nil},
		{"IN_BinLocationLookupCustomFields_RecID", optional(1, customField(binFields)), nil},
		{"Contents", contents(binContents), texts},
		{"LastSavedDateTime", saved, dates},
	}},
	{"DB_Class", len(classes), []field{
		{"Class", func(r row) any { return classes[r.n] }, nil},
	}},
	{"CR_Classification", 48, []field{
		{"CreditorClassificationID", key(serialID, migratedRecID), nil},
		{"LastSavedDateTime", optional(15, saved), dates},
		{"Description", creditorClassification, texts},
		{"LedgerIDCreditorControl", optional(12, memberOf(ledgers)), nil},
		{"LedgerIDCreditorPurchases", optional(12, memberOf(ledgers)), nil},
		{"LedgerIDCreditorDiscounts", optional(10, memberOf(ledgers)), nil},
		{"LedgerIDCreditorSourcedPayments", optional(10, memberOf(ledgers)), nil},
		{"LedgerIDCreditorSourcedDebitAdjustment", optional(10, memberOf(ledgers)), nil},
		{"LedgerIDCreditorSourcedPurchase", optional(10, memberOf(ledgers)), nil},
		{"LedgerIDCreditorSourcedCreditAdjustment", optional(10, memberOf(ledgers)), nil},
		{"LedgerIDCreditorFreight", optional(20, memberOf(ledgers)), nil},
		{"LedgerIDCreditorInsurance", optional(40, memberOf(ledgers)), nil},
		{"LedgerIDCreditorDuty", optional(40, memberOf(ledgers)), nil},
		{"LedgerIDCreditorRealisedGainLoss", optional(30, memberOf(ledgers)), nil},
		{"LedgerIDCreditorUnRealisedGainLoss", optional(30, memberOf(ledgers)), nil},
		{"TermsDays", optional(15, termsDays), shorts},
		{"TermsType", number(0, 3), shorts},
		{"PO_Workflows_RecID", optional(50, memberOf(workflows)), nil},
		{"IsDefault", func(r row) any { return boolToInt(r.n == 0) }, nil},
	}},
	{"JB_EstimateResourceLines", 5000, []field{
		{"RecID", key(upperGUID, migratedGUID), nil},
		{"JB_JobStages_RecID", optional(1, parent(jobStages, estimateSizes)), nil},
		{"JB_Resources_RecID", optional(1, func(r row) any { return jobResources.at(resource(r)) }), nil},
		{"TransactionDate", day, dates},
		{"Quantity", money(unit/4, 40*unit, unit/4), decimals},
		{"UnitCost", func(r row) any { return resourceCost(r).String() }, decimals},
		{"UnitCharge", unitCharge, decimals},
		{"Remark", optional(25, blank(10, phrase(remarks))), texts},
		{"LastSavedDateTime", savedExactly, dates},
		{"HR_Staff_RecID", optional(15, memberOf(staff)), nil},
		{"RowHash", rowVersion, hashes},
		{"Units", func(r row) any { return resources[resource(r)].units }, texts},
		{"JB_EstimateLines_RecID", optional(30, memberOf(estimateLines)), nil},
	}},
	{"SO_Totals", 12000, []field{
		{"InvoiceID", key(invoiceID, "D%06d"), nil},
		{"InvoiceTotal", optional(1, invoiceTotal), sums},
		{"Cartage1Total", optional(2, cartageTotal(0)), sums},
		{"Cartage1TaxTotal", optional(2, cartageTax(0)), sums},
		{"Cartage2Total", optional(5, cartageTotal(1)), sums},
		{"Cartage2TaxTotal", optional(5, cartageTax(1)), sums},
		{"Cartage3Total", optional(40, cartageTotal(2)), decimals},
		{"Cartage3TaxTotal", optional(40, cartageTax(2)), decimals},
	}},
	{"BM_Inputs", 6000, []field{
		{"RecID", key(recID, migratedRecID), nil},
		{"BM_Stages_RecID", optional(1, parent(billStages, stageSizes)), nil},
		{"ItemNo", line(stageSizes), ints},
		{"InventoryID", optional(3, memberOf(items)), nil},
		{"IsRatio", randomBool(12), nil},
		{"Quantity", money(unit/20, 24*unit, unit/20), decimals},
		{"Note", optional(40, blank(15, phrase(inputNotes))), texts},
		{"SubAssembly", optional(70, blank(40, memberOf(bills))), nil},
		{"SubAssemblyExplodePolicy", number(0, 2), octets},
		{"RowHash", rowVersion, hashes},
	}},
	{"INMGT020POQty", itemCount * warehousesPerItem, []field{
		{"InventoryID", func(r row) any { return items.at(r.n / warehousesPerItem) }, nil},
		{"Qty", optional(1, orderedAmount(func(o order) amount { return o.quantity })), decimals},
		{"Delivered", optional(4, orderedAmount(func(o order) amount { return o.delivered })), decimals},
		{"UnactQty", optional(4, orderedAmount(func(o order) amount { return o.inactive })), decimals},
		{"ActQty", optional(4, orderedAmount(func(o order) amount { return o.active })), decimals},
		{"IN_LogicalID", optional(1, func(r row) any { return warehouses.at(r.n/warehousesPerItem + r.n%warehousesPerItem) }), nil},
	}},
	{"SY_Filters", 320, []field{
		{"RecID", key(recID, migratedRecID), nil},
		{"FilterNo", func(r row) any { n, _ := group(r.n, screenSizes...); return int64(n + 1) }, ints},
		{"FilterString", filterCondition, texts},
		{"Description", optional(30, blank(10, phrase(filterDescriptions))), texts},
		{"ItemNo", line(screenSizes), ints},
		{"Name", filterName, texts},
	}},
	{"SM_LabourLineCustomValues", 4200, []field{
		{"RecID", key(recID, migratedRecID), nil},
		{"LabourID", optional(1, customOwner(labourLines, labourContents)), nil},
		{"FieldID", optional(1, customField(labourFields)), nil},
		{"Contents", contents(labourContents), texts},
		{"LastSavedDateTime", saved, dates},
	}},
	{"IN_Colours", 2000, []field{
		{"RecID", key(guidID, migratedGUID), nil},
		{"Description", func(r row) any { return colours[colour(r)].name }, texts},
		{"ColourCode", func(r row) any { return colours[colour(r)].code }, texts},
		{"StyleID", optional(1, parent(styles, colourSizes)), nil},
		{"DisplayOrder", optional(5, line(colourSizes)), ints},
	}},
	{"IN_ProductAvailability", itemCount * 6, []field{
		{"RecID", key(guidID, migratedGUID), nil},
		{"InventoryID", optional(1, func(r row) any { return items.at(r.n / warehouses.size) }), nil},
		{"LogicalID", optional(1, func(r row) any { return warehouses.at(r.n) }), nil},
		{"Available", optional(4, randomBool(82)), nil},
	}},
}

func creditorClassification(r row) any {
	return fmt.Sprintf("%s – %s", creditorGroups[r.n/len(regions)%len(creditorGroups)], regions[r.n%len(regions)])
}

func termsDays(r row) any {
	return pick(r.fieldRandom(), []any{int64(0), int64(7), int64(14), int64(30), int64(30), int64(60)})
}

// colour returns the next colour of the row's style.
func colour(r row) int {
	style, line := group(r.n, colourSizes...)
	return (style*3 + line) % len(colours)
}

func filterName(r row) any {
	d := r.random("filter")
	return expandTemplate(d, pick(d, filterConditions).name)
}

func filterCondition(r row) any {
	d := r.random("filter")
	return expandTemplate(d, pick(d, filterConditions).condition)
}
