//go:build tools

// Package registrytools names the command that build.ts builds, so that
// `go mod tidy` keeps what it needs in go.mod and go.sum. The build tag keeps
// this file out of every build.
package registrytools

import _ "oras.land/oras/cmd/oras"
