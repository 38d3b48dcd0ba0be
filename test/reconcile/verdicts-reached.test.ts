/**
 * Each status and each finding of a running service, reached through the reconciler as the program runs it, with what is
 * written beside: conditions, events, the gauge. docs/observations.md has all situations; here is one for each code.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as kinds from '../../src/cluster/kinds.ts';
import type { Kind } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { CONTRACT_FINDINGS } from '../../src/policies/contract/findings.ts';
import { CONTRACT_STATUSES } from '../../src/policies/contract/status-ladder.ts';
import { anObject } from '../support/builders.ts';
import { AGENTS } from './observe/survey.ts';
import { nodeLease, nodeView, service, slice } from './observe/survey-objects.ts';
import { writtenOf, type Situation } from './verdict-world.ts';

const HEAD = 'pactoVersion: "2.0"\nservice: {name: cart, version: 1.4.0}\n';
const API = `${HEAD}interfaces: [{name: api, type: openapi, ref: api.yaml}]\n`;
const HEALTH = `${API}capabilities: [{type: health, binding: {type: http, interface: api, path: /healthz}}]\n`;
const PAY = (version: string, required = true): string =>
  `${HEAD}dependencies: [{name: pay, ref: 'registry.test/shop/pay', required: ${String(required)}, compatibility: '${version}'}]\n`;
const STORED = `${HEAD}state: {type: stateful, persistence: {scope: local, durability: persistent}, dataCriticality: high}\n`;
const PAY_ITSELF = 'pactoVersion: "2.0"\nservice: {name: pay, version: 1.2.0}\n';

const BOUND = { serviceName: 'web', interfaceBindings: [{ interface: 'api', servicePort: 80 }] };
const OF_API = { target: BOUND };
const OF_WEB = { target: { serviceName: 'web' } };
/** Longer than an absence must last. */
const LONG_MS = 121_000;

type Objects = NonNullable<Situation['objects']>;
const WEB = [kinds.SERVICE, service()] as const;
const UP = [kinds.ENDPOINT_SLICE, slice('web', [{ ready: true, pod: 'n1/p1' }])] as const;
const DOWN = [kinds.ENDPOINT_SLICE, slice('web', [{ ready: false }])] as const;
const SERVED: Objects = [WEB, UP];
const PUBLISHED: Objects = [
  [kinds.SERVICE, service({ spec: { type: 'LoadBalancer' }, ingress: [{ ip: '8.8.8.8' }] })],
  UP,
];

function workload(kind: Kind, volumes: readonly object[] = []): readonly [Kind, KubeObject] {
  const spec = { template: { spec: { volumes, containers: [{ image: 'r.test/web:1' }] } } };
  return [kind, anObject(kind, { namespace: 'shop', name: 'web' }, { spec })];
}

const CONFIG_FILES = {
  'pacto.yaml': `${HEAD}configurations: [{name: app, required: true, schema: app.json}]\n`,
  'app.json': '{"type":"object","properties":{"PORT":{"type":"integer"}}}',
};
const OF_CONFIG = {
  target: {
    serviceName: 'web',
    configBindings: [{ configuration: 'app', kind: 'ConfigMap', name: 'app', key: 'k', format: 'yaml' }],
  },
};
const MISFIT = anObject(kinds.CONFIG_MAP, { namespace: 'shop', name: 'app' }, { data: { k: 'PORT: x\n' } });

const PARSED = 'ContractValid=True/Parsed';
const FOUND = 'RuntimeObserved=True/Found';
const FAILED = 'Warning ValidationFailed';

interface Reached {
  readonly status: string;
  readonly findings?: readonly string[];
  /** Beside `Normal RevisionCreated`. */
  readonly events?: readonly string[];
  readonly conditions?: readonly string[];
  readonly hasRevision?: boolean;
}

/** A violation: what goes with each. */
function broken(code: string): Reached {
  return { status: 'NonCompliant', findings: [`${code} error`], events: [FAILED] };
}

function notKnown(code: string): Reached {
  return { status: 'Unknown', findings: [`${code} unknown`], events: [FAILED] };
}

const CASES: readonly (readonly [string, Situation, Reached])[] = [
  [
    'all is kept: Compliant, and nobody is told',
    { inline: API, spec: OF_API, objects: SERVED },
    { status: 'Compliant' },
  ],
  [
    'no target: Reference',
    { inline: API },
    { status: 'Reference', conditions: ['ContractValid=True/ReferenceOnly'] },
  ],
  [
    'a text that is no contract: Invalid',
    { inline: 'pactoVersion: "2.0"\n', spec: OF_API, objects: SERVED },
    {
      status: 'Invalid',
      events: ['Warning ContractInvalid'],
      conditions: ['ContractValid=False/Invalid'],
      hasRevision: false,
    },
  ],
  [
    'a registry that does not have it: Unknown',
    { files: {}, spec: { contractRef: { oci: 'registry.test/shop/none:1.0.0' }, ...OF_API } },
    {
      status: 'Unknown',
      events: ['Warning ContractUnavailable'],
      conditions: ['ContractValid=Unknown/Unavailable'],
      hasRevision: false,
    },
  ],
  [
    'a dependency that names a tag: Warning',
    {
      inline: `${HEAD}dependencies: [{name: pay, ref: 'oci://registry.test/shop/pay:1.2.0', required: false, compatibility: '^1.0.0'}]\n`,
      spec: OF_WEB,
      objects: SERVED,
    },
    { status: 'Warning', findings: ['TAG_NOT_DIGEST warning'], events: [FAILED] },
  ],
  [
    'a policy that lies elsewhere: Warning',
    {
      files: {
        'pacto.yaml': `${HEAD}policies: [{name: p, ref: 'oci://registry.test/shop/policy@sha256:${'a'.repeat(64)}'}]\n`,
      },
      spec: OF_WEB,
      objects: SERVED,
    },
    { status: 'Warning', findings: ['POLICY_REF_NOT_ENFORCED warning'], events: [FAILED] },
  ],
  [
    'nothing ready for long',
    { inline: API, spec: OF_API, objects: [WEB, DOWN], waitMs: LONG_MS },
    broken('INTERFACE_ABSENT'),
  ],
  [
    'nothing ready so far',
    { inline: API, spec: OF_API, objects: [WEB, DOWN] },
    notKnown('EVIDENCE_INSUFFICIENT'),
  ],
  [
    'a port that speaks gRPC',
    {
      inline: API,
      spec: OF_API,
      objects: SERVED,
      flags: { 'reconciler.probing': 'true' },
      prober: { protocols: () => Promise.resolve(['grpc']) },
    },
    broken('INTERFACE_PROTOCOL_MISMATCH'),
  ],
  [
    'a public address',
    { inline: API, spec: OF_API, objects: PUBLISHED },
    broken('INTERFACE_VISIBILITY_MISMATCH'),
  ],
  [
    'health that answers 404 for long',
    {
      inline: HEALTH,
      spec: OF_API,
      objects: SERVED,
      flags: { 'reconciler.probing': 'true' },
      prober: {
        get: () => Promise.resolve({ answered: true, status: 404, contentType: '', body: new Uint8Array() }),
      },
      waitMs: LONG_MS,
    },
    broken('CAPABILITY_ABSENT'),
  ],
  [
    'a provider without its Service for long',
    { inline: PAY('^1.0.0'), spec: OF_WEB, objects: SERVED, sibling: PAY_ITSELF, waitMs: LONG_MS },
    broken('DEPENDENCY_UNREACHABLE'),
  ],
  [
    'the same of an optional dependency',
    { inline: PAY('^1.0.0', false), spec: OF_WEB, objects: SERVED, sibling: PAY_ITSELF, waitMs: LONG_MS },
    { status: 'Warning', findings: ['DEPENDENCY_UNREACHABLE warning'], events: [FAILED] },
  ],
  [
    'a provider in another version',
    {
      inline: PAY('^2.0.0'),
      spec: OF_WEB,
      objects: [
        ...SERVED,
        [kinds.SERVICE, service({ name: 'pay' })],
        [kinds.ENDPOINT_SLICE, slice('pay', [{}])],
      ],
      sibling: PAY_ITSELF,
    },
    broken('DEPENDENCY_VERSION_MISMATCH'),
  ],
  [
    'no ConfigMap for long',
    { files: CONFIG_FILES, spec: OF_CONFIG, objects: SERVED, waitMs: LONG_MS },
    broken('CONFIGURATION_ABSENT'),
  ],
  [
    'a ConfigMap that does not conform',
    { files: CONFIG_FILES, spec: OF_CONFIG, objects: [...SERVED, [kinds.CONFIG_MAP, MISFIT]] },
    broken('CONFIGURATION_MISMATCH'),
  ],
  [
    'a Deployment in place of a Job',
    {
      inline: `${HEAD}workload: job\n`,
      spec: { target: { workloadRef: { name: 'web', kind: 'Deployment' } } },
      objects: [workload(kinds.DEPLOYMENT)],
    },
    broken('WORKLOAD_MISMATCH'),
  ],
  [
    'storage that ends with its Pod',
    { inline: STORED, spec: OF_WEB, objects: [WEB, workload(kinds.DEPLOYMENT)] },
    broken('PERSISTENCE_MISMATCH'),
  ],
  ['no Service', { inline: API, spec: OF_API }, notKnown('EVIDENCE_MISSING')],
  ['no binding', { inline: API, spec: OF_WEB, objects: SERVED }, notKnown('OBSERVATION_UNSUPPORTED')],
  [
    'a readiness probe that lets no endpoint be ready',
    {
      inline: HEALTH,
      spec: OF_API,
      objects: [
        WEB,
        [
          kinds.DEPLOYMENT,
          anObject(
            kinds.DEPLOYMENT,
            { namespace: 'shop', name: 'web' },
            {
              spec: {
                template: {
                  spec: {
                    containers: [
                      {
                        ports: [{ containerPort: 8080 }],
                        readinessProbe: { httpGet: { path: '/', port: 8080 } },
                      },
                    ],
                  },
                },
              },
            },
          ),
        ],
      ],
    },
    {
      status: 'Unknown',
      findings: ['EVIDENCE_INSUFFICIENT unknown', 'COLLECTION_FAILED unknown'],
      events: [FAILED],
    },
  ],
  [
    'a node agent that is silent',
    {
      inline: API,
      spec: OF_API,
      objects: [
        ...SERVED,
        [kinds.LEASE, nodeLease('n1', -90_000)],
        [kinds.NODE_RUNTIME_OBSERVATION, nodeView('n1', [])],
      ],
      flags: { 'reconciler.nodeAgentNamespace': AGENTS },
    },
    notKnown('EVIDENCE_STALE'),
  ],
  [
    'an extension capability',
    {
      inline: `${HEAD}capabilities: [{type: extension, ref: shop.test/backup}]\n`,
      spec: OF_WEB,
      objects: SERVED,
    },
    notKnown('EXTENSION_EVALUATOR_UNAVAILABLE'),
  ],
];

describe('what the reconciler writes', () => {
  it.each(CASES)('%s', async (_what, situation, reached) => {
    const { status, findings = [], events = [], conditions = [PARSED, FOUND], hasRevision = true } = reached;
    const written = await writtenOf(situation);
    expect(written.status.contractStatus).toBe(status);
    expect((written.status.findings ?? []).map(({ code, severity }) => `${code} ${severity}`)).toEqual(
      findings,
    );
    expect(
      (written.status.conditions ?? []).map(({ type, status: is, reason }) => `${type}=${is}/${reason}`),
    ).toEqual(conditions);
    expect(written.events).toEqual([...(hasRevision ? ['Normal RevisionCreated'] : []), ...events].sort());
    expect(written.revisions).toHaveLength(hasRevision ? 1 : 0);
    expect(written.gauges).toEqual([expect.stringContaining(`status="${status}"`)]);
    expect(written.statuses).not.toContain('NotEvaluated');
  });

  it('counts what it finds, by severity', async () => {
    const { status } = await writtenOf({ inline: API, spec: OF_API, objects: PUBLISHED });
    expect(status.summary).toEqual({ errorCount: 1, warningCount: 0, infoCount: 0, unknownCount: 0 });
  });
});

describe('the cases', () => {
  it('reach each status, but for the one that is reserved', () => {
    const reached = new Set(CASES.map(([, , { status }]) => status));
    expect([...reached].toSorted()).toEqual(
      CONTRACT_STATUSES.filter((status) => status !== 'NotEvaluated').toSorted(),
    );
  });

  it('reach each finding of a running service', () => {
    const reached = new Set(
      CASES.flatMap(([, , { findings = [] }]) => findings.map((one) => one.split(' ')[0])),
    );
    const runtime = Object.entries(CONTRACT_FINDINGS).flatMap(([code, { category }]) =>
      category === 'RuntimeDrift' || category === 'Inconclusive' ? [code] : [],
    );
    expect(runtime).toHaveLength(16);
    expect([...reached]).toEqual(expect.arrayContaining(runtime));
  });

  it('reach each status that upstream was ever seen to write, which the reserved one is not', () => {
    const directory = new URL('../golden/operator/', import.meta.url);
    const recorded = new Set(
      readdirSync(directory)
        .filter((file) => file.startsWith('scenario-'))
        .flatMap((file) => {
          const text = readFileSync(new URL(file, directory), 'utf8');
          return [...text.matchAll(/"contractStatus": "(\w+)"/g)].map(([, status = '']) => status);
        }),
    );
    expect([...recorded].toSorted()).toEqual(
      CONTRACT_STATUSES.filter((status) => status !== 'NotEvaluated').toSorted(),
    );
  });
});
