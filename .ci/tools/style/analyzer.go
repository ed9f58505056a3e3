package main

import (
	"go/ast"
	"go/token"
)

// Rules of findings.
const (
	effectRule   = "effect"   // an effect in the header of an if or switch
	parallelRule = "parallel" // an assignment of three or more values at once
	lookupRule   = "lookup"   // an index into a literal
	switchRule   = "switch"   // a switch without a subject that is no list of alternatives
	nameRule     = "name"     // a local name that is a function word
)

// rules are in the order of the table that is printed.
var rules = []string{effectRule, parallelRule, lookupRule, switchRule, nameRule}

// functionWords mean nothing without a noun.
var functionWords = map[string]bool{
	"again": true,
	"given": true,
	"is":    true,
	"more":  true,
	"of":    true,
	"one":   true,
	"own":   true,
	"rest":  true,
	"was":   true,
}

// maxParts is the number of conditions that may be joined in a case of a switch without a subject.
const maxParts = 2

// minAlternatives is the number of clauses, with default, from which a switch without a subject
// is a list of alternatives rather than a guard.
const minAlternatives = 3

// finding is a place in a file that breaks a rule.
type finding struct {
	pos  token.Pos
	rule string
	text string
}

// check finds the places in a file that break a rule. It needs no types, so that the whole
// repository takes seconds.
func check(file *ast.File) []finding {
	c := &checker{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			c.header(n.Init, []ast.Expr{n.Cond})
		case *ast.SwitchStmt:
			c.header(n.Init, tested(n))
			c.alternatives(n)
		case *ast.TypeSwitchStmt:
			c.typeSwitch(n)
		case *ast.AssignStmt:
			c.parallel(n.Pos(), len(n.Rhs))
			c.assigned(n)
		case *ast.ValueSpec:
			c.parallel(n.Pos(), len(n.Values))
		case *ast.IndexExpr:
			c.lookup(n)
		case *ast.RangeStmt:
			c.ranged(n)
		case *ast.FuncType:
			c.fields(n.Params)
			c.fields(n.Results)
		case *ast.DeclStmt:
			c.declared(n)
		}
		return true
	})
	return c.findings
}

type checker struct{ findings []finding }

func (c *checker) report(at token.Pos, rule, text string) {
	c.findings = append(c.findings, finding{at, rule, text})
}

// tested returns the expressions that a switch tests.
func tested(s *ast.SwitchStmt) []ast.Expr {
	var expressions []ast.Expr
	if s.Tag != nil {
		expressions = append(expressions, s.Tag)
	}
	for _, clause := range s.Body.List {
		expressions = append(expressions, clause.(*ast.CaseClause).List...)
	}
	return expressions
}

// header allows a header to declare values that its condition tests, and to assign err or
// ok if its condition tests it.
func (c *checker) header(header ast.Stmt, conditions []ast.Expr) {
	if header == nil {
		return
	}
	assignment, ok := header.(*ast.AssignStmt)
	if !ok {
		c.report(header.Pos(), effectRule, "an effect in a header: make it a statement of its own")
		return
	}
	for _, left := range assignment.Lhs {
		name, ok := left.(*ast.Ident)
		if !ok || !mentions(conditions, name.Name) {
			continue
		}
		isFamiliar := name.Name == "err" || name.Name == "ok"
		if isFamiliar || assignment.Tok == token.DEFINE {
			return
		}
	}
	if assignment.Tok == token.DEFINE {
		c.report(header.Pos(), effectRule, "the condition tests none of the values that its header declares")
		return
	}
	c.report(header.Pos(), effectRule, "an assignment in a header: make it a statement of its own")
}

// typeSwitch allows the header of a type switch to declare its subject.
func (c *checker) typeSwitch(s *ast.TypeSwitchStmt) {
	var subject ast.Expr
	switch assign := s.Assign.(type) {
	case *ast.AssignStmt:
		subject = assign.Rhs[0]
	case *ast.ExprStmt:
		subject = assign.X
	}
	c.header(s.Init, []ast.Expr{subject})
}

// mentions reports whether a name occurs in expressions.
func mentions(expressions []ast.Expr, name string) bool {
	found := false
	for _, e := range expressions {
		ast.Inspect(e, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if ok && id.Name == name {
				found = true
			}
			return !found
		})
	}
	return found
}

func (c *checker) alternatives(s *ast.SwitchStmt) {
	if s.Tag != nil {
		return
	}
	if len(s.Body.List) < minAlternatives {
		c.report(s.Pos(), switchRule, "a switch without a subject and with fewer than three alternatives: use if")
		return
	}
	for _, clause := range s.Body.List {
		for _, condition := range clause.(*ast.CaseClause).List {
			if parts(condition) > maxParts {
				c.report(condition.Pos(), switchRule, "a case of more than two conditions: give it a name")
			}
		}
	}
}

// parts returns the number of conditions that && and || join.
func parts(e ast.Expr) int {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return parts(e.X)
	case *ast.UnaryExpr:
		return parts(e.X)
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			return parts(e.X) + parts(e.Y)
		}
	}
	return 1
}

// parallel checks the number of values of an assignment. The results of a call are one.
func (c *checker) parallel(at token.Pos, values int) {
	if values > 2 {
		c.report(at, parallelRule, "three or more values in one assignment")
	}
}

func (c *checker) lookup(index *ast.IndexExpr) {
	if _, ok := ast.Unparen(index.X).(*ast.CompositeLit); ok {
		c.report(index.Pos(), lookupRule, "a look-up in a literal: use if, or name the table")
	}
}

// assigned checks the names that := declares.
func (c *checker) assigned(s *ast.AssignStmt) {
	if s.Tok != token.DEFINE {
		return
	}
	for i, left := range s.Lhs {
		isBool := len(s.Rhs) == len(s.Lhs) && isCondition(s.Rhs[i])
		c.name(left, isBool)
	}
}

// ranged checks the names that a range declares.
func (c *checker) ranged(s *ast.RangeStmt) {
	if s.Tok == token.DEFINE {
		c.name(s.Key, false)
		c.name(s.Value, false)
	}
}

// fields checks the names of parameters or results.
func (c *checker) fields(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, field := range list.List {
		for _, id := range field.Names {
			c.name(id, isNamed(field.Type, "bool"))
		}
	}
}

// declared checks the names of a declaration in a function.
func (c *checker) declared(s *ast.DeclStmt) {
	for _, spec := range s.Decl.(*ast.GenDecl).Specs {
		values, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for i, id := range values.Names {
			isBool := isNamed(values.Type, "bool") || i < len(values.Values) && isCondition(values.Values[i])
			c.name(id, isBool)
		}
	}
}

func (c *checker) name(e ast.Expr, isBool bool) {
	id, ok := e.(*ast.Ident)
	if !ok {
		return
	}
	isQuantifier := isBool && (id.Name == "any" || id.Name == "all")
	if functionWords[id.Name] || isQuantifier {
		c.report(id.Pos(), nameRule, id.Name+" is a function word: name the value")
	}
}

// isCondition reports whether an expression is a bool by its syntax alone. Calls are not.
func isCondition(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e.Name == "true" || e.Name == "false"
	case *ast.UnaryExpr:
		return e.Op == token.NOT
	case *ast.BinaryExpr:
		switch e.Op {
		case token.LAND, token.LOR, token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			return true
		}
	}
	return false
}

func isNamed(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
