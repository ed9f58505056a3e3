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

// business defines how each field of each kind is generated.
var business = []table{
	{"CR_BatchTransDocuments", 2400, []field{
		{"RecID", key(recID)},
		{"CR_BatchTrans_ReceiptID", optional(2, parent(receipts, receiptSizes))},
		{"DocumentTypeID", optional(3, func(r row) any {
			return documentTypes.at(documentOf(r).sort)
		})},
		{"LastSavedDateTime", savedExactly},
		{"LastSavedByStaffID", optional(1, memberOf(staff))},
		{"FileBinary", documentContents},
		{"Description", blank(4, func(r row) any { return documentOf(r).title })},
		{"PhysicalFileName", func(r row) any { return documentOf(r).file }},
		{"ItemNo", line(receiptSizes)},
	}},
	{"IN_KitStockTakeMain", 600, []field{
		{"KitStockTakeID", key(serialID)},
		{"KitStockTakeNo", numbered("KST-%06d")},
		{"KitStockTakeNotes", optional(30, phrase(stockTakeNotes))},
		{"KitStockTakeStatus", optional(10, randomBool(80))},
		{"KitStockTakeDate", day},
		{"StaffID", optional(2, memberOf(staff))},
		{"IN_LogicalID", optional(2, memberOf(warehouses))},
		{"LastSavedDateTime", saved},
	}},
	{"BM_InputCustomFields", 60, []field{
		{"RecID", key(guidID)},
		{"SettingName", func(r row) any { return setting(r).name }},
		{"SettingDescription", blank(10, func(r row) any { return setting(r).description })},
		{"CellType", optional(5, func(r row) any { return setting(r).cell })},
		{"FieldParameter", func(r row) any { return setting(r).parameter }},
		{"SY_Plugin_RecID", memberOf(plugins)},
		{"LastSavedDateTime", saved},
		{"DisplayOrder", optional(10, number(1, 40))},
	}},
	{"IN_BinLocationLookupCustomValues", 3600, []field{
		{"RecID", key(recID)},
		{"IN_BinLocationLookup_RecID", optional(1, customOwner(bins, binContents))},
		{"IN_BinLocationLookupCustomFields_RecID", optional(1, customField(binFields))},
		{"Contents", contents(binContents)},
		{"LastSavedDateTime", saved},
	}},
	{"DB_Class", len(classes), []field{
		{"Class", func(r row) any { return classes[r.n] }},
	}},
	{"CR_Classification", 48, []field{
		{"CreditorClassificationID", key(serialID)},
		{"LastSavedDateTime", optional(15, saved)},
		{"Description", creditorClassification},
		{"LedgerIDCreditorControl", optional(12, memberOf(ledgers))},
		{"LedgerIDCreditorPurchases", optional(12, memberOf(ledgers))},
		{"LedgerIDCreditorDiscounts", optional(10, memberOf(ledgers))},
		{"LedgerIDCreditorSourcedPayments", optional(10, memberOf(ledgers))},
		{"LedgerIDCreditorSourcedDebitAdjustment", optional(10, memberOf(ledgers))},
		{"LedgerIDCreditorSourcedPurchase", optional(10, memberOf(ledgers))},
		{"LedgerIDCreditorSourcedCreditAdjustment", optional(10, memberOf(ledgers))},
		{"LedgerIDCreditorFreight", optional(20, memberOf(ledgers))},
		{"LedgerIDCreditorInsurance", optional(40, memberOf(ledgers))},
		{"LedgerIDCreditorDuty", optional(40, memberOf(ledgers))},
		{"LedgerIDCreditorRealisedGainLoss", optional(30, memberOf(ledgers))},
		{"LedgerIDCreditorUnRealisedGainLoss", optional(30, memberOf(ledgers))},
		{"TermsDays", optional(15, termsDays)},
		{"TermsType", number(0, 3)},
		{"PO_Workflows_RecID", optional(50, memberOf(workflows))},
		{"IsDefault", func(r row) any { return boolToInt(r.n == 0) }},
	}},
	{"JB_EstimateResourceLines", 5000, []field{
		{"RecID", key(upperGUID)},
		{"JB_JobStages_RecID", optional(1, parent(jobStages, estimateSizes))},
		{"JB_Resources_RecID", optional(1, func(r row) any {
			return jobResources.at(resource(r))
		})},
		{"TransactionDate", day},
		{"Quantity", money(unit/4, 40*unit, unit/4)},
		{"UnitCost", func(r row) any { return resourceCost(r).String() }},
		{"UnitCharge", unitCharge},
		{"Remark", optional(25, blank(10, phrase(remarks)))},
		{"LastSavedDateTime", savedExactly},
		{"HR_Staff_RecID", optional(15, memberOf(staff))},
		{"RowHash", rowVersion},
		{"Units", func(r row) any { return resources[resource(r)].units }},
		{"JB_EstimateLines_RecID", optional(30, memberOf(estimateLines))},
	}},
	{"SO_Totals", 12000, []field{
		{"InvoiceID", key(invoiceID)},
		{"InvoiceTotal", optional(1, invoiceTotal)},
		{"Cartage1Total", optional(2, cartageTotal(0))},
		{"Cartage1TaxTotal", optional(2, cartageTax(0))},
		{"Cartage2Total", optional(5, cartageTotal(1))},
		{"Cartage2TaxTotal", optional(5, cartageTax(1))},
		{"Cartage3Total", optional(40, cartageTotal(2))},
		{"Cartage3TaxTotal", optional(40, cartageTax(2))},
	}},
	{"BM_Inputs", 6000, []field{
		{"RecID", key(recID)},
		{"BM_Stages_RecID", optional(1, parent(billStages, stageSizes))},
		{"ItemNo", line(stageSizes)},
		{"InventoryID", optional(3, memberOf(items))},
		{"IsRatio", randomBool(12)},
		{"Quantity", money(unit/20, 24*unit, unit/20)},
		{"Note", optional(40, blank(15, phrase(inputNotes)))},
		{"SubAssembly", optional(70, blank(40, memberOf(bills)))},
		{"SubAssemblyExplodePolicy", number(0, 2)},
		{"RowHash", rowVersion},
	}},
	{"INMGT020POQty", itemCount * warehousesPerItem, []field{
		{"InventoryID", func(r row) any { return items.at(r.n / warehousesPerItem) }},
		{"Qty", optional(1, orderedAmount(func(o order) amount { return o.quantity }))},
		{"Delivered", optional(4, orderedAmount(func(o order) amount { return o.delivered }))},
		{"UnactQty", optional(4, orderedAmount(func(o order) amount { return o.inactive }))},
		{"ActQty", optional(4, orderedAmount(func(o order) amount { return o.active }))},
		{"IN_LogicalID", optional(1, func(r row) any {
			return warehouses.at(r.n/warehousesPerItem + r.n%warehousesPerItem)
		})},
	}},
	{"SY_Filters", 320, []field{
		{"RecID", key(recID)},
		{"FilterNo", func(r row) any { n, _ := group(r.n, screenSizes...); return int64(n + 1) }},
		{"FilterString", filterCondition},
		{"Description", optional(30, blank(10, phrase(filterDescriptions)))},
		{"ItemNo", line(screenSizes)},
		{"Name", filterName},
	}},
	{"SM_LabourLineCustomValues", 4200, []field{
		{"RecID", key(recID)},
		{"LabourID", optional(1, customOwner(labourLines, labourContents))},
		{"FieldID", optional(1, customField(labourFields))},
		{"Contents", contents(labourContents)},
		{"LastSavedDateTime", saved},
	}},
	{"IN_Colours", 2000, []field{
		{"RecID", key(guidID)},
		{"Description", func(r row) any { return colours[colour(r)].name }},
		{"ColourCode", func(r row) any { return colours[colour(r)].code }},
		{"StyleID", optional(1, parent(styles, colourSizes))},
		{"DisplayOrder", optional(5, line(colourSizes))},
	}},
	{"IN_ProductAvailability", itemCount * 6, []field{
		{"RecID", key(guidID)},
		{"InventoryID", optional(1, func(r row) any { return items.at(r.n / warehouses.size) })},
		{"LogicalID", optional(1, func(r row) any { return warehouses.at(r.n) })},
		{"Available", optional(4, randomBool(82))},
	}},
}

func creditorClassification(r row) any {
	creditors := creditorGroups[r.n/len(regions)%len(creditorGroups)]
	region := regions[r.n%len(regions)]
	return fmt.Sprintf("%s – %s", creditors, region)
}

func termsDays(r row) any {
	days := []int64{0, 7, 14, 30, 30, 60} // repeated terms are more frequent
	return pick(r.fieldRandom(), days)
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
