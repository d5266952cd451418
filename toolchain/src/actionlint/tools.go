//go:build tools

// Package tools pins actionlint, which reads the workflows under .github for real.
package tools

import _ "github.com/rhysd/actionlint/cmd/actionlint"
