/**
 * What the cluster tests run against and how it is built: one Go module a Kubernetes minor, in `v1.36/` and
 * `v1.29/` beside this file. Versions, flags and the reasons for both minors: README.md here.
 */
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

/** The Kubernetes minors that the tests know. 1.36 enforces policies natively, 1.29 does not serve them. */
export type KubernetesVersion = '1.36' | '1.29';

export const KUBERNETES_VERSIONS: readonly KubernetesVersion[] = ['1.36', '1.29'];

/** `peer` is no part of a control plane: it evaluates CEL for `npm run bench` and `npm run fuzz` (test/bench/go). */
export type BinaryName = 'kube-apiserver' | 'kube-controller-manager' | 'kubectl' | 'etcd' | 'peer';

/** One command to build: its file name, the Go package, and the version that it will report. */
export interface BinaryRecipe {
  readonly name: BinaryName;
  readonly goPackage: string;
}

/** A Go module to build binaries from, and all that changes what comes out: what the cache's key is made of. */
export interface GoModule {
  /** Folder that holds go.mod, go.sum and tools.go. */
  readonly moduleDirectory: string;
  /** Further files there that change the result: those of programs that are our own. */
  readonly sources?: readonly string[];
  /** Without any of these a folder of the cache is not complete. */
  readonly binaries: readonly { readonly name: string }[];
  /** Arguments of `go build` that change the result; part of the cache key. */
  readonly buildFlags: readonly string[];
}

export interface Recipe extends GoModule {
  readonly version: KubernetesVersion;
  /** The Kubernetes release, without the `v`; equals the `require` line of the module's go.mod. */
  readonly release: string;
  readonly binaries: readonly BinaryRecipe[];
}

/**
 * `-X` lines: without them the server reports v0.0.0-master and clients misjudge what it can do. `-s -w` drop the
 * debug tables, a third of each file's size.
 */
function linkerFlags(release: string): string {
  const [major, minor] = release.split('.');
  const variable = 'k8s.io/component-base/version';
  return [
    '-s -w',
    `-X ${variable}.gitVersion=v${release}`,
    `-X ${variable}.gitMajor=${major}`,
    `-X ${variable}.gitMinor=${minor}`,
  ].join(' ');
}

const here = fileURLToPath(new URL('.', import.meta.url));

export const RECIPES: Readonly<Record<KubernetesVersion, Recipe>> = {
  '1.36': {
    version: '1.36',
    release: '1.36.3',
    moduleDirectory: join(here, 'v1.36'),
    // etcd and kubectl serve both minors: etcd's API is stable, and kubectl needs `--bound-object-kind Node` (1.31).
    binaries: [
      { name: 'kube-apiserver', goPackage: 'k8s.io/kubernetes/cmd/kube-apiserver' },
      { name: 'etcd', goPackage: 'go.etcd.io/etcd/server/v3' },
      { name: 'kubectl', goPackage: 'k8s.io/kubernetes/cmd/kubectl' },
      { name: 'kube-controller-manager', goPackage: 'k8s.io/kubernetes/cmd/kube-controller-manager' },
    ],
    buildFlags: ['-trimpath', '-ldflags', linkerFlags('1.36.3')],
  },
  '1.29': {
    version: '1.29',
    release: '1.29.6',
    moduleDirectory: join(here, 'v1.29'),
    binaries: [{ name: 'kube-apiserver', goPackage: 'k8s.io/kubernetes/cmd/kube-apiserver' }],
    // `providerless` leaves out the in-tree cloud providers: one of their modules is no longer served by the Go proxy.
    buildFlags: ['-tags', 'providerless', '-trimpath', '-ldflags', linkerFlags('1.29.6')],
  },
};
