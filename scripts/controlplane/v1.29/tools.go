//go:build tools

// Package controlplane names the command that build.ts builds, so that
// `go mod tidy -e` keeps everything it needs in go.mod and go.sum. The build
// tag keeps this file out of every build.
package controlplane

import _ "k8s.io/kubernetes/cmd/kube-apiserver"
