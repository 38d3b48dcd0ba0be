//go:build tools

// Package controlplane names the commands that build.ts builds, so that
// `go mod tidy -e` keeps everything they need in go.mod and go.sum. The build
// tag keeps this file out of every build.
package controlplane

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
