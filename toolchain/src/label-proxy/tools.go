//go:build tools

// Package tools pins prom-label-proxy, which the gateway's tests run for real.
package tools

import _ "github.com/prometheus-community/prom-label-proxy"
