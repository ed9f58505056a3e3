module github.com/hashicorp/go-uuid

go 1.26.0
