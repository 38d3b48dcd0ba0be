/**
 * Which binaries a Kubernetes minor runs on: those of `$KUBEBUILDER_ASSETS` for 1.36 when it is set (the habit of
 * controller-runtime's envtest), else the built ones in the cache.
 */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { binariesDirectory, isComplete } from './cache.ts';
import { RECIPES, type BinaryName, type KubernetesVersion } from './recipes.ts';

/** Paths of the binaries, whether or not they exist yet. */
export interface Assets {
  readonly version: KubernetesVersion;
  readonly source: 'cache' | 'KUBEBUILDER_ASSETS';
  readonly directory: string;
  readonly kubeApiserver: string;
  readonly etcd: string;
  readonly kubectl: string;
  /** Of 1.36; absent where `$KUBEBUILDER_ASSETS` has none, as envtest's own archives. */
  readonly kubeControllerManager: string | undefined;
  /** Why they cannot be used, in one sentence with the next step; undefined when all is there. */
  readonly problem: string | undefined;
}

/** Without the controller manager: envtest's archives hold only these three. */
const REQUIRED_OF_ENVTEST: readonly BinaryName[] = ['kube-apiserver', 'etcd', 'kubectl'];

/** The folder named by `$KUBEBUILDER_ASSETS`, or undefined when the variable is unset or empty. */
export function envtestDirectory(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const directory = env['KUBEBUILDER_ASSETS'];
  return directory === undefined || directory === '' ? undefined : directory;
}

/** Finds the binaries of a minor. Reads the disk, starts nothing, never throws for missing files. */
export function findAssets(version: KubernetesVersion): Assets {
  const newest = findNewest();
  if (version === '1.36') return newest;
  const recipe = RECIPES[version];
  const directory = binariesDirectory(recipe);
  const own = isComplete(recipe, directory) ? undefined : notBuilt(version, directory);
  return {
    ...newest,
    version,
    source: 'cache',
    directory,
    kubeApiserver: join(directory, 'kube-apiserver'),
    problem: own ?? newest.problem,
  };
}

function findNewest(): Assets {
  const recipe = RECIPES['1.36'];
  const given = envtestDirectory();
  const directory = given ?? binariesDirectory(recipe);
  const controllerManager = join(directory, 'kube-controller-manager');
  let problem: string | undefined;
  if (given === undefined) {
    problem = isComplete(recipe, directory) ? undefined : notBuilt('1.36', directory);
  } else {
    const missing = REQUIRED_OF_ENVTEST.filter((name) => !isExecutable(join(given, name)));
    if (missing.length > 0) {
      problem = `KUBEBUILDER_ASSETS is set to ${given}, which has no executable ${missing.join(', ')}; add it there, or unset the variable to have it built`;
    }
  }
  return {
    version: '1.36',
    source: given === undefined ? 'cache' : 'KUBEBUILDER_ASSETS',
    directory,
    kubeApiserver: join(directory, 'kube-apiserver'),
    etcd: join(directory, 'etcd'),
    kubectl: join(directory, 'kubectl'),
    kubeControllerManager:
      given !== undefined && !isExecutable(controllerManager) ? undefined : controllerManager,
    problem,
  };
}

function notBuilt(version: KubernetesVersion, directory: string): string {
  return `the Kubernetes ${version} binaries are not built (looked in ${directory}); run "npm run controlplane", which needs Go`;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
